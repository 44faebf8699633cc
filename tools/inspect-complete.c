/* SPDX-License-Identifier: MIT */

/* For the completion of command lines: prints the last word of the line, such as it is split in
 * graph text, then what may stand in its place, a line each; "@files" means names of files behind
 * the "=". Options are no matter of this: the shell reads them from --help. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

typedef struct
{
  char **words; /* all but the last */
  char *last;
} Line;

static void
line_clear (Line *self)
{
  g_strfreev (self->words);
  g_free (self->last);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Line, line_clear)

/* A graph is quoted for the shell as a whole, in part, or not at all: blanks separate its words in
 * any case, but for those behind a backslash, or several, where the shell takes some. */
static void
split (Line *self, const char *text)
{
  GPtrArray *words = g_ptr_array_new ();
  GString *word = g_string_new (NULL);

  for (; *text != '\0'; text++)
    if (text[0] == '\\' && g_ascii_isspace (text[1]))
      g_string_append_c (word, *++text);
    else if (g_ascii_isspace (*text))
      {
        if (word->len > 0)
          g_ptr_array_add (words, g_strdup (word->str));
        g_string_truncate (word, 0);
      }
    else if (*text != '"' && *text != '\'' && *text != '\\')
      g_string_append_c (word, *text);
  g_ptr_array_add (words, NULL);
  self->words = (char **) g_ptr_array_free (words, FALSE);
  self->last = g_string_free (word, FALSE);
}

/* What a graph has come to. */
typedef struct
{
  const char *element; /* (nullable): whose properties may follow */
  bool wants_element;
  GPtrArray *names; /* of elements, as given by name= */
} Place;

static void
take_word (Place *place, const char *word, bool after_option)
{
  if (strcmp (word, "!") == 0)
    {
      place->element = NULL;
      place->wants_element = true;
    }
  else if (g_str_has_prefix (word, "name="))
    g_ptr_array_add (place->names, (gpointer) (word + strlen ("name=")));
  else if (strchr (word, '=') != NULL || word[0] == '-')
    return;
  else if (dlp_registry_has_element (word))
    {
      place->element = word;
      place->wants_element = false;
    }
  else if (!after_option)
    {
      place->element = NULL; /* a pad, or a name that is not known */
      place->wants_element = false;
    }
}

static void
print_match (const char *last, const char *candidate)
{
  if (g_str_has_prefix (candidate, last))
    printf ("%s\n", candidate);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* A plugin may have the name of what it brings. */
static void
print_names (const char *last, char **names)
{
  qsort (names, g_strv_length (names), sizeof *names, compare_names);
  for (guint i = 0; names[i] != NULL; i++)
    if (i == 0 || strcmp (names[i], names[i - 1]) != 0)
      print_match (last, names[i]);
}

static void
complete_name (const char *last)
{
  g_auto (GStrv) names = inspect_list_names ();
  g_auto (GStrv) qualified = inspect_list_qualified_names ();

  /* "codec:" alone, as long as nobody asks for what comes behind it. */
  for (guint i = 0; qualified[i] != NULL && strchr (last, ':') == NULL; i++)
    strchr (qualified[i], ':')[1] = '\0';
  print_names (last, names);
  if (*last != '\0')
    print_names (last, qualified);
}

static void
print_elements (const Place *place, const char *last)
{
  g_auto (GStrv) names = dlp_registry_list_elements ();

  print_names (last, names);
  for (guint i = 0; i < place->names->len; i++)
    {
      g_autofree char *name = g_strconcat (g_ptr_array_index (place->names, i), ".", NULL);

      print_match (last, name);
    }
}

static bool
is_writable (GVariant *property)
{
  gboolean writable = FALSE;

  return g_variant_lookup (property, "writable", "b", &writable) && writable;
}

/* Whether a property takes the name of a file, as far as its name says. */
static bool
names_a_file (const char *name)
{
  return strcmp (name, "location") == 0 || strcmp (name, "list") == 0 ||
         g_str_has_suffix (name, ".cache") || g_str_has_suffix (name, "-file") ||
         g_str_has_suffix (name, "-path");
}

static void
print_values (GVariant *property, const char *name, const char *last)
{
  g_autofree const char **values = NULL;

  if (!g_variant_lookup (property, "values", "^a&s", &values))
    return;
  for (guint i = 0; values[i] != NULL; i++)
    {
      g_autofree char *word = g_strdup_printf ("%s=%s", name, values[i]);

      print_match (last, word);
    }
  if (values[0] == NULL && names_a_file (name))
    printf ("@files\n");
}

/* Of an element, or of a scheme with @prefix "http."; whether one of them may be meant. */
static bool
print_properties_of (GVariant *info, const char *prefix, const char *last)
{
  g_autoptr (GVariant) properties =
      g_variant_lookup_value (info, "properties", G_VARIANT_TYPE ("aa{sv}"));
  const char *equals = strchr (last, '=');
  bool found = false;

  for (gsize i = 0; properties != NULL && i < g_variant_n_children (properties); i++)
    {
      g_autoptr (GVariant) property = g_variant_get_child_value (properties, i);
      g_autofree char *key = g_strconcat (prefix, inspect_get (property, "name"), NULL);
      g_autofree char *word = g_strconcat (key, "=", NULL);

      if (!is_writable (property))
        continue;
      if (equals != NULL && strncmp (last, word, strlen (word)) == 0)
        print_values (property, key, last);
      else if (equals == NULL && g_str_has_prefix (word, last))
        {
          printf ("%s\n", word);
          found = true;
        }
    }
  return found;
}

/* Once a letter of them is there: a source has many. */
static bool
print_scheme_properties (const char *last)
{
  g_auto (GStrv) names = dlp_registry_list_schemes ();
  bool found = false;

  for (guint i = 0; names[i] != NULL && *last != '\0'; i++)
    {
      g_autoptr (GVariant) scheme = dlp_registry_describe_scheme (names[i]);
      g_autofree char *prefix = g_strconcat (names[i], ".", NULL);

      found |= print_properties_of (scheme, prefix, last);
    }
  return found;
}

/* Whether one of them may be meant. */
static bool
print_properties (const char *element, const char *last)
{
  g_autoptr (GVariant) info = dlp_registry_describe_element (element);
  const char *equals = strchr (last, '=');
  bool found = equals != NULL || g_str_has_prefix ("name=", last);

  if (equals == NULL)
    print_match (last, "name=");
  found |= print_properties_of (info, "", last);
  if (strcmp (inspect_get (info, "base"), "source") == 0)
    found |= print_scheme_properties (last);
  return found;
}

static void
complete_graph (const Line *line)
{
  Place place = { NULL, true, g_ptr_array_new () };

  for (guint i = 1; line->words[0] != NULL && line->words[i] != NULL; i++)
    take_word (&place, line->words[i], line->words[i - 1][0] == '-');
  if (place.wants_element)
    print_elements (&place, line->last);
  else
    {
      /* A chain goes on, or, by a word that is no property, another one begins. */
      if (place.element == NULL || !print_properties (place.element, line->last))
        print_elements (&place, line->last);
      print_match (line->last, "!");
    }
  g_ptr_array_unref (place.names);
}

void
inspect_complete (const char *text)
{
  g_auto (Line) line = { 0 };
  g_autofree char *program = NULL;

  split (&line, text);
  printf ("%s\n", line.last);
  if (line.words[0] == NULL)
    return;
  program = g_path_get_basename (line.words[0]);
  if (strcmp (program, "dlpipe-inspect") == 0)
    complete_name (line.last);
  else
    complete_graph (&line);
}
