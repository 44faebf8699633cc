/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The members of a tar archive: ustar and pax (POSIX.1-2001), the older V7, and what GNU tar adds:
 * long names, numbers in base 256, sparse files. */

#define TAR_BLOCK_BYTES 512
/* The longest name or pax header that is accepted. */
#define TAR_MAX_EXTENDED_BYTES (1024 * 1024)

typedef enum
{
  TAR_MORE,   /* the headers are not there as a whole */
  TAR_ZERO,   /* a block of zeros, as at the end of an archive */
  TAR_FAULT,  /* no archive, or damaged */
  TAR_MEMBER, /* its headers are whole; its data may not be */
} TarResult;

typedef struct
{
  GString *name; /* the caller's */
  guint8 type;
  gboolean is_sparse;
  gsize data; /* where its data begin */
  guint64 size;
  guint64 next; /* behind them: where the next member begins */

  /* With TAR_FAULT. */
  gsize fault_at;
  char *fault; /* (transfer full) */
} TarMember;

/* The member, or whatever there is, at the start of @data. What @self->name has is replaced. */
TarResult tar_member_read (TarMember *self, const guint8 *data, gsize size);

/* Whether it is a file, which has a key and an extension: up to the first dot of the last part of
 * the name, and behind it. *key_size: of the name. */
gboolean tar_member_has_key (const TarMember *self, gsize *key_size);

G_END_DECLS
