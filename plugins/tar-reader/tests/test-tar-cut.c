/* SPDX-License-Identifier: MIT */

/* Borders in pieces, names and sizes as they may be written. */

#include <string.h>

#include <glib.h>

#include "tar-compare.h"
#include "tar-make.h"

static GString *
make_random (void)
{
  static const char *const names[] = { "a.txt", "a.json", "b.txt",      "dir/a.txt",
                                       "dir",   "noext",  "__x__/a.txt" };
  static const char types[] = "000005126xgLK";
  GString *to = g_string_new (NULL);

  for (gint n = g_test_rand_int_range (0, 12); n > 0; n--)
    {
      char type = types[g_test_rand_int_range (0, strlen (types))];
      g_autofree char *data = g_strnfill ((gsize) g_test_rand_int_range (0, 1400), 'x');

      if (type == 'x' || type == 'g')
        tar_make_member (to, type, "pax", "16 path=c.txt.y\n", 16);
      else if (type == 'L' || type == 'K')
        tar_make_member (to, type, "long", "d.json", 7);
      else
        tar_make_member (to, type, names[g_test_rand_int_range (0, G_N_ELEMENTS (names))], data,
                         type == '0' ? strlen (data) : 0);
      if (g_test_rand_int_range (0, 10) == 0)
        tar_make_end (to);
    }
  if (to->len > 0 && g_test_rand_int_range (0, 3) == 0)
    to->str[g_test_rand_int_range (0, (gint) to->len)] ^= 1;
  if (to->len > 0 && g_test_rand_int_range (0, 3) == 0)
    g_string_truncate (to, (gsize) g_test_rand_int_range (0, (gint) to->len));
  return to;
}

static void
test_random (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  guint n = MAX (1, (guint) (2000 * (scale != NULL ? g_ascii_strtod (scale, NULL) : 1)));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) archive = make_random ();

      tar_compare ((const guint8 *) archive->str, archive->len,
                   (gsize) g_test_rand_int_range (1, 900));
    }
}

/* ---- one member ---- */

static TarResult
read_member (GString *archive, TarMember *member, GString *name)
{
  *member = (TarMember){ .name = name };
  return tar_member_read (member, (const guint8 *) archive->str, archive->len);
}

/* "NAME|KEY", "!" for none. */
static void
assert_key (const char *name, const char *key)
{
  g_autoptr (GString) archive = g_string_new (NULL);
  g_autoptr (GString) found = g_string_new (NULL);
  TarMember member;
  gsize size;

  tar_make_member (archive, '0', name, "x", 1);
  g_assert_cmpint (read_member (archive, &member, found), ==, TAR_MEMBER);
  g_assert_cmpstr (found->str, ==, name);
  g_assert_cmpuint (member.size, ==, 1);
  g_assert_cmpuint (member.next, ==, 1024);
  if (!tar_member_has_key (&member, &size))
    {
      g_assert_cmpstr (key, ==, "!");
      return;
    }
  g_string_truncate (found, size);
  g_assert_cmpstr (found->str, ==, key);
}

static void
test_keys (void)
{
  assert_key ("a.txt", "a");
  assert_key ("a.seg.png", "a");
  assert_key ("x.y/a.txt", "x.y/a");
  assert_key ("/x/../a.b.c", "/x/../a");
  assert_key ("a", "!");
  assert_key ("x.y/a", "!");
  assert_key (".hidden", "!");
  assert_key ("x/._a.txt", "!");
  assert_key ("a.", "!");
  assert_key ("a/", "!");
  assert_key ("__meta__/a.txt", "!");
  assert_key ("__/a.txt", "__/a");
  assert_key ("x/__meta__/a.txt", "x/__meta__/a");
}

static void
test_types (void)
{
  static const char data[] = "1234567 1345SVMND";
  static const gboolean is_file[] = { 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 };

  for (guint i = 0; i < strlen (data); i++)
    {
      g_autoptr (GString) archive = g_string_new (NULL);
      g_autoptr (GString) name = g_string_new (NULL);
      TarMember member;
      gsize size;

      if (data[i] == ' ')
        continue;
      tar_make_member (archive, data[i], "a.txt", "x", 1);
      g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
      g_assert_cmpint (tar_member_has_key (&member, &size), ==, is_file[i]);
      g_assert_cmpint (member.is_sparse, ==, data[i] == 'S');
      g_assert_cmpuint (member.next, ==, data[i] >= '1' && data[i] <= '6' ? 512 : 1024);
    }
}

/* @field: the 12 bytes of a size. */
static void
assert_size (const char *field, gboolean is_right, guint64 expected)
{
  g_autoptr (GString) archive = g_string_new (NULL);
  g_autoptr (GString) name = g_string_new (NULL);
  TarMember member;

  tar_make_member (archive, '0', "a.txt", "", 0);
  memcpy (archive->str + 124, field, 12);
  tar_make_checksum (archive->str);
  g_assert_cmpint (read_member (archive, &member, name), ==, is_right ? TAR_MEMBER : TAR_FAULT);
  if (is_right)
    {
      g_assert_cmpuint (member.size, ==, expected);
      g_assert_cmpuint (member.next, >, expected);
    }
  else
    g_assert_nonnull (strstr (member.fault, "whose size is no number"));
  g_free (member.fault);
}

static void
test_sizes (void)
{
  assert_size ("00000000017", TRUE, 15);
  assert_size ("77777777777", TRUE, 8589934591);
  assert_size ("777777777777", TRUE, 68719476735);
  assert_size ("      17 ...", TRUE, 15);
  assert_size ("\0\0\0\0\0\0\0\0\0\0\0", TRUE, 0);
  assert_size ("\x80\0\0\0\0\0\0\2\0\0\0\0", TRUE, 8589934592);
  assert_size ("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", TRUE, G_MAXINT64);
  assert_size ("\x80\0\0\0\x80\0\0\0\0\0\0\0", FALSE, 0);
  assert_size ("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xc7", FALSE, 0);
  assert_size ("0000000001x", FALSE, 0);
  assert_size ("-0000000001", FALSE, 0);
}

static void
test_checksums (void)
{
  g_autoptr (GString) archive = tar_make ("\xc3\xa9.txt:x");
  g_autoptr (GString) name = g_string_new (NULL);
  TarMember member;
  gint sum = 0;

  /* As old programs added them up. */
  memset (archive->str + 148, ' ', 8);
  for (guint i = 0; i < 512; i++)
    sum += (gint8) archive->str[i];
  g_snprintf (archive->str + 148, 8, "%06o", (guint) sum);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
  g_assert_cmpstr (name->str, ==, "\xc3\xa9.txt");

  /* The last byte of the sum is behind its end. */
  for (guint i = 0; i < 512; i++)
    {
      if (i == 155)
        continue;
      archive->str[i] ^= 4;
      g_assert_cmpint (read_member (archive, &member, name), ==, TAR_FAULT);
      g_assert_cmpstr (member.fault, ==, "no tar header, or one whose checksum is wrong");
      g_free (member.fault);
      archive->str[i] ^= 4;
    }
}

/* ---- headers before it ---- */

static void
assert_extended (const char *pax,
                 gsize size,
                 const char *name,
                 guint64 member_size,
                 gboolean is_sparse)
{
  g_autoptr (GString) archive = g_string_new (NULL);
  g_autoptr (GString) found = g_string_new (NULL);
  TarMember member;
  gsize whole = size > 0 ? 2560 : 2048;

  tar_make_member (archive, 'g', "global", "15 path=no.txt\n", 15);
  tar_make_member (archive, 'x', "pax", pax, size);
  tar_make_member (archive, '0', "a.txt", "xyz", 3);
  for (gsize n = 0; n < whole; n += 100)
    {
      member = (TarMember){ .name = found };
      if (name != NULL)
        g_assert_cmpint (tar_member_read (&member, (const guint8 *) archive->str, n), ==, TAR_MORE);
    }
  if (name == NULL)
    {
      g_assert_cmpint (read_member (archive, &member, found), ==, TAR_FAULT);
      g_assert_cmpstr (member.fault, ==, "a damaged pax header");
      g_assert_cmpuint (member.fault_at, ==, 1536);
      g_free (member.fault);
      return;
    }
  g_assert_cmpint (read_member (archive, &member, found), ==, TAR_MEMBER);
  g_assert_cmpstr (found->str, ==, name);
  g_assert_cmpuint (member.size, ==, member_size);
  g_assert_cmpint (member.is_sparse, ==, is_sparse);
  g_assert_cmpuint (member.data, ==, whole);
}

#define PAX(s) s, sizeof s - 1

static void
test_pax (void)
{
  assert_extended (PAX ("14 path=b.txt\n"), "b.txt", 3, FALSE);
  assert_extended (PAX ("9 size=2\n14 path=b.txt\n"), "b.txt", 2, FALSE);
  assert_extended (PAX ("14 path=b\n.txt"), NULL, 0, FALSE);
  assert_extended (PAX ("15 path=b\n.txt\n"), "b\n.txt", 3, FALSE);
  assert_extended (PAX ("8 path=\n9 size=\n"), NULL, 0, FALSE);
  assert_extended (PAX ("8 path=\n8 size=\n"), "a.txt", 3, FALSE);
  assert_extended (PAX ("12 comment=\n"), "a.txt", 3, FALSE);
  assert_extended (PAX ("24 GNU.sparse.name=c.txt\n14 path=b.txt\n"), NULL, 0, FALSE);
  assert_extended (PAX ("26 GNU.sparse.name=c.json\n14 path=b.txt\n"), "c.json", 3, TRUE);
  assert_extended (PAX (""), "a.txt", 3, FALSE);
  assert_extended (PAX ("99 path=b.txt\n"), NULL, 0, FALSE);
  assert_extended (PAX ("14 path=b.txt "), NULL, 0, FALSE);
  assert_extended (PAX ("x path=b.txt\n"), NULL, 0, FALSE);
  assert_extended (PAX ("0 path=b.txt\n"), NULL, 0, FALSE);
  assert_extended (PAX ("3 \n"), NULL, 0, FALSE);
  assert_extended (PAX ("9 size=x\n"), NULL, 0, FALSE);
  assert_extended (PAX ("10 size=-1\n"), NULL, 0, FALSE);
  assert_extended (PAX ("99999999999999999999999 path=b.txt\n"), NULL, 0, FALSE);
}

static void
test_gnu_name (void)
{
  g_autoptr (GString) archive = g_string_new (NULL);
  g_autoptr (GString) name = g_string_new (NULL);
  g_autofree char *folder = g_strnfill (5000, 'd');
  g_autofree char *path = g_strconcat (folder, "/a.txt", NULL);
  TarMember member;

  tar_make_member (archive, 'K', "././@LongLink", "target", 7);
  tar_make_member (archive, 'L', "././@LongLink", path, strlen (path) + 1);
  tar_make_member (archive, '0', path, "x", 1);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
  g_assert_cmpstr (name->str, ==, path);
}

static void
test_prefix (void)
{
  g_autoptr (GString) archive = tar_make ("a.txt:x");
  g_autoptr (GString) name = g_string_new (NULL);
  TarMember member;

  memset (archive->str + 345, 'p', 155);
  tar_make_checksum (archive->str);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
  g_assert_cmpuint (name->len, ==, 155 + 6);
  g_assert_true (g_str_has_suffix (name->str, "pp/a.txt"));

  /* GNU tar has times there. */
  memcpy (archive->str + 257, "ustar  ", 8);
  tar_make_checksum (archive->str);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
  g_assert_cmpstr (name->str, ==, "a.txt");

  /* V7 has no magic. */
  memset (archive->str + 257, 0, 8);
  tar_make_checksum (archive->str);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
  g_assert_cmpstr (name->str, ==, "a.txt");
}

static void
test_sparse (void)
{
  g_autoptr (GString) archive = tar_make ("S*a.txt: 0*b.txt:x");
  g_autoptr (GString) name = g_string_new (NULL);
  char map[512] = "";
  TarMember member;

  archive->str[482] = 1;
  tar_make_checksum (archive->str);
  map[504] = 1;
  g_string_insert_len (archive, 512, map, 512);
  map[504] = 0;
  g_string_insert_len (archive, 1024, map, 512);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MEMBER);
  g_assert_true (member.is_sparse);
  g_assert_cmpuint (member.next, ==, 1536);
  g_string_truncate (archive, 1500);
  g_assert_cmpint (read_member (archive, &member, name), ==, TAR_MORE);
}

/* No size in a header is believed for an allocation. */
static void
test_limits (void)
{
  static const char types[] = "xgLK";

  for (guint i = 0; i < strlen (types); i++)
    {
      g_autoptr (GString) archive = g_string_new (NULL);
      g_autoptr (GString) name = g_string_new (NULL);
      TarMember member;

      tar_make_member (archive, types[i], "a.txt", "", 0);
      memcpy (archive->str + 124, "77777777777", 12);
      tar_make_checksum (archive->str);
      g_assert_cmpint (read_member (archive, &member, name), ==, TAR_FAULT);
      g_assert_cmpstr (member.fault, ==, "headers of one member above 1 MiB");
      g_free (member.fault);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tar-cut/random", test_random);
  g_test_add_func ("/tar-cut/keys", test_keys);
  g_test_add_func ("/tar-cut/types", test_types);
  g_test_add_func ("/tar-cut/sizes", test_sizes);
  g_test_add_func ("/tar-cut/checksums", test_checksums);
  g_test_add_func ("/tar-cut/pax", test_pax);
  g_test_add_func ("/tar-cut/gnu-name", test_gnu_name);
  g_test_add_func ("/tar-cut/prefix", test_prefix);
  g_test_add_func ("/tar-cut/sparse", test_sparse);
  g_test_add_func ("/tar-cut/limits", test_limits);
  return g_test_run ();
}
