/* SPDX-License-Identifier: MIT */

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "dlp-registry-private.h"

#define ALIGN_NOTE(size) (((gsize) (size) + 3) & ~(gsize) 3)

/* The object that core is part of. */
typedef struct
{
  guint n_seen;
  bool is_program;
  char *path;
  GString *id; /* NULL: none */
} OwnObject;

static bool
has_address (const struct dl_phdr_info *info, ElfW (Addr) address)
{
  for (guint i = 0; i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *header = &info->dlpi_phdr[i];

      if (header->p_type == PT_LOAD && address - info->dlpi_addr >= header->p_vaddr &&
          address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
        return true;
    }
  return false;
}

static void
read_notes (OwnObject *self, const guint8 *data, gsize size)
{
  ElfW (Nhdr) note;

  while (size >= sizeof note)
    {
      gsize name, description;

      memcpy (&note, data, sizeof note);
      name = ALIGN_NOTE (note.n_namesz);
      description = ALIGN_NOTE (note.n_descsz);
      if (size - sizeof note < name || size - sizeof note - name < description)
        return;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          memcmp (data + sizeof note, "GNU", 4) == 0)
        {
          self->id = g_string_new (NULL);
          for (guint i = 0; i < note.n_descsz; i++)
            g_string_append_printf (self->id, "%02x", data[sizeof note + name + i]);
          return;
        }
      data += sizeof note + name + description;
      size -= sizeof note + name + description;
    }
}

static int
look_at_object (struct dl_phdr_info *info, size_t size, void *data)
{
  OwnObject *self = data;
  bool is_first = self->n_seen++ == 0;

  if (!has_address (info, (ElfW (Addr)) dlp_plugin_get_build_id))
    return 0;
  self->is_program = is_first;
  self->path = g_strdup (is_first ? "/proc/self/exe" : info->dlpi_name);
  for (guint i = 0; i < info->dlpi_phnum && self->id == NULL; i++)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      read_notes (self, (const guint8 *) info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                  info->dlpi_phdr[i].p_memsz);
  return 1;
}

bool
dlp_plugin_is_core_in_program (void)
{
  OwnObject own = { 0 };

  dl_iterate_phdr (look_at_object, &own);
  g_free (own.path);
  if (own.id != NULL)
    g_string_free (own.id, TRUE);
  return own.is_program;
}

char *
dlp_plugin_get_build_id (void)
{
  OwnObject own = { 0 };
  g_autofree char *path = NULL;
  struct stat st = { 0 };

  dl_iterate_phdr (look_at_object, &own);
  path = own.path;
  if (own.id != NULL)
    return g_string_free (own.id, FALSE);

  /* Linked without one: the file stands for what is in it. */
  if (path == NULL || stat (path, &st) != 0)
    return g_strdup ("");
  return g_strdup_printf ("%s %lld.%09ld %lld %llu", path, (long long) st.st_mtim.tv_sec,
                          st.st_mtim.tv_nsec, (long long) st.st_size,
                          (unsigned long long) st.st_ino);
}
