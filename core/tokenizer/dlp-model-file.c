/* SPDX-License-Identifier: MIT */
#include "dlp-model-file.h"
#include "dlp-place-private.h"
#include "dlp-sentencepiece.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

extern const char dlp_r50k_start[] __attribute__ ((visibility ("hidden")));
extern const char dlp_r50k_end[] __attribute__ ((visibility ("hidden")));

#define R50K "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
#define CL100K "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
#define O200K "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
#define KNOWN_MODELS "gpt2, r50k_base, cl100k_base, o200k_base"

static const DlpEncoding encodings[] = {
  { "r50k_base", "gpt2", R50K, "gpt2", { { "<|endoftext|>", 50256 } } },
  { "cl100k_base",
    "cl100k",
    CL100K,
    "cl100k",
    { { "<|endoftext|>", 100257 },
      { "<|fim_prefix|>", 100258 },
      { "<|fim_middle|>", 100259 },
      { "<|fim_suffix|>", 100260 },
      { "<|endofprompt|>", 100276 } } },
  { "o200k_base",
    "o200k",
    O200K,
    "o200k",
    { { "<|endoftext|>", 199999 }, { "<|endofprompt|>", 200018 } } },
  { "p50k_base", NULL, NULL, "p50k", { { "<|endoftext|>", 50256 } } },
};

static const DlpEncoding *
encoding_by_name (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    if (strcmp (name, encodings[i].name) == 0 || g_strcmp0 (name, encodings[i].alias) == 0)
      return &encodings[i];
  return NULL;
}

static const DlpEncoding *
encoding_by_sha256 (const char *sha256)
{
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++)
    if (g_strcmp0 (sha256, encodings[i].sha256) == 0)
      return &encodings[i];
  return NULL;
}

static GBytes *
read_file (const char *path, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autofree char *content = NULL;
  gsize len;

  /* Read, not mapped: a file that is cut while it is mapped would kill the process. GLib reads on
   * after an interruption, but does not open again. */
  do
    g_clear_error (&local_error);
  while (!g_file_get_contents (path, &content, &len, &local_error) &&
         g_error_matches (local_error, G_FILE_ERROR, G_FILE_ERROR_INTR));
  if (content == NULL)
    {
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NOT_FOUND,
                   "cannot read the vocabulary \"%s\": %s", path, local_error->message);
      return NULL;
    }
  return g_bytes_new_take (g_steal_pointer (&content), len);
}

/* (transfer full): that of the source where the library was not installed (and no other was named),
 * else one beside the library, else where it was meant to be installed. */
static char *
get_own_folder (gboolean is_named)
{
  char *folder = is_named ? NULL : dlp_place_get_uninstalled ();

  if (folder == NULL && DLP_VOCAB_SUBDIR[0] != '\0')
    folder = dlp_place_find_folder (DLP_VOCAB_SUBDIR);
  return folder != NULL ? folder : g_strdup (DLP_VOCAB_DIR);
}

/* Looks for the rank file of @encoding in the folders of DLPIPE_VOCAB_PATH and in our own. */
static char *
find_file (const DlpEncoding *encoding, GError **error)
{
  const char *path = g_getenv ("DLPIPE_VOCAB_PATH");
  g_auto (GStrv) folders = g_strsplit (path ? path : "", G_SEARCHPATH_SEPARATOR_S, -1);
  g_autofree char *base = g_strconcat (encoding->name, ".tiktoken", NULL);
  g_autofree char *own = NULL;
  g_autofree char *file = NULL;

  for (guint i = 0; folders[i]; i++)
    {
      g_autofree char *candidate = g_build_filename (folders[i], base, NULL);

      if (*folders[i] && g_file_test (candidate, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&candidate);
    }

  own = get_own_folder (path != NULL);
  file = g_build_filename (own, base, NULL);
  if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer (&file);

  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NOT_FOUND,
               "no vocabulary for the model \"%s\": there is no %s in %s or in the folders of "
               "DLPIPE_VOCAB_PATH (%s)",
               encoding->name, base, own, path ? path : "not set");
  return NULL;
}

static gboolean
check_sha256 (DlpModelFile *self, GError **error)
{
  g_autofree char *sha256 = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, self->file);

  if (g_strcmp0 (sha256, self->encoding->sha256) == 0)
    return TRUE;
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
               "%s is not the vocabulary of \"%s\": its sha256 is %s, it must be %s", self->where,
               self->encoding->name, sha256, self->encoding->sha256);
  return FALSE;
}

static gboolean
open_known (DlpModelFile *self, const char *model, const DlpEncoding *encoding, GError **error)
{
  self->encoding = encoding;
  self->name = g_strdup (model);
  if (strcmp (encoding->name, "r50k_base") == 0)
    {
      self->where = g_strdup ("built-in r50k_base");
      self->file = g_bytes_new_static (dlp_r50k_start, dlp_r50k_end - dlp_r50k_start);
      return TRUE;
    }
  self->where = find_file (encoding, error);
  if (self->where == NULL)
    return FALSE;
  self->file = read_file (self->where, error);
  return self->file != NULL && check_sha256 (self, error);
}

/* A tokenizer.json is an object, a SentencePiece model a message of Protocol Buffers; no line of a
 * rank file begins like one of them. */
static DlpModelFileKind
guess_kind (GBytes *file)
{
  gsize size, i = 0;
  const char *data = g_bytes_get_data (file, &size);

  if (dlp_sentencepiece_is_likely ((const guint8 *) data, size))
    return DLP_MODEL_FILE_SENTENCEPIECE;
  while (i < size && g_ascii_isspace (data[i]))
    i++;
  return i < size && data[i] == '{' ? DLP_MODEL_FILE_JSON : DLP_MODEL_FILE_RANKS;
}

static const char *const folder_files[] = { "tokenizer.json", "tekken.json", "tokenizer.model" };

/* A file whose name says nothing is called after its folder. */
static char *
make_name (const char *path)
{
  g_autofree char *full = g_canonicalize_filename (path, NULL);
  g_autofree char *base = g_path_get_basename (full);
  g_autofree char *folder = g_path_get_dirname (full);

  for (guint i = 0; i < G_N_ELEMENTS (folder_files); i++)
    if (strcmp (base, folder_files[i]) == 0)
      return g_path_get_basename (folder);
  if (g_str_has_suffix (base, ".tiktoken"))
    base[strlen (base) - strlen (".tiktoken")] = '\0';
  return g_steal_pointer (&base);
}

/* (transfer full): the file of a tokenizer in a folder; the first of those that there could be. */
static char *
find_in_folder (const char *folder)
{
  for (guint i = 0; i < G_N_ELEMENTS (folder_files); i++)
    {
      g_autofree char *path = g_build_filename (folder, folder_files[i], NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return g_steal_pointer (&path);
    }
  return g_build_filename (folder, folder_files[0], NULL);
}

static void
find_encoding (DlpModelFile *self)
{
  g_autofree char *sha256 = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, self->file);

  self->encoding = encoding_by_sha256 (sha256);
  if (self->encoding == NULL)
    {
      self->encoding = encoding_by_name (self->name);
      self->guessed = self->encoding != NULL;
    }
}

static gboolean
open_path (DlpModelFile *self, const char *path, GError **error)
{
  g_autofree char *inside = NULL;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    path = inside = find_in_folder (path);
  self->file = read_file (path, error);
  if (self->file == NULL)
    return FALSE;
  self->kind = guess_kind (self->file);
  self->where = g_strdup (path);
  self->path = g_canonicalize_filename (path, NULL);
  self->name = make_name (path);
  if (self->kind == DLP_MODEL_FILE_RANKS)
    find_encoding (self);
  return TRUE;
}

/* (transfer full): the folder of the local cache of Hugging Face's hub, as its own library finds
 * it. */
static char *
get_hub (void)
{
  const char *path = g_getenv ("HF_HUB_CACHE");
  const char *home = g_getenv ("HF_HOME");

  if (path == NULL || *path == '\0')
    path = g_getenv ("HUGGINGFACE_HUB_CACHE");
  if (path != NULL && *path != '\0')
    return g_strdup (path);
  if (home != NULL && *home != '\0')
    return g_build_filename (home, "hub", NULL);
  return g_build_filename (g_get_user_cache_dir (), "huggingface", "hub", NULL);
}

/* What a branch or tag of a repository stands for in the cache; a commit stands for itself. */
static char *
read_revision (const char *repository, const char *revision)
{
  g_autofree char *path = g_build_filename (repository, "refs", revision, NULL);
  g_autofree char *commit = NULL;

  if (!g_file_get_contents (path, &commit, NULL, NULL))
    return g_strdup (revision);
  return g_strdup (g_strstrip (commit));
}

/* OWNER/NAME or OWNER/NAME@REVISION; nothing is fetched. */
static gboolean
open_hub (DlpModelFile *self, const char *model, GError **error)
{
  const char *at = strrchr (model, '@');
  g_autofree char *name = g_strndup (model, at ? (gsize) (at - model) : strlen (model));
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  g_autofree char *joined = g_strjoinv ("--", parts);
  g_autofree char *hub = get_hub ();
  g_autofree char *base = g_strconcat ("models--", joined, NULL);
  g_autofree char *repository = g_build_filename (hub, base, NULL);
  g_autofree char *commit = read_revision (repository, at ? at + 1 : "main");
  g_autofree char *folder = g_build_filename (repository, "snapshots", commit, NULL);

  for (guint i = 0; parts[i]; i++)
    if (*parts[i] == '\0' || *parts[i] == '.')
      {
        g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NOT_FOUND,
                     "\"hf:%s\" is not hf:OWNER/NAME or hf:OWNER/NAME@REVISION", model);
        return FALSE;
      }
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NOT_FOUND,
                   "\"hf:%s\" is not in the local cache: there is no %s; fetch it there with "
                   "Hugging Face's tools (huggingface-cli download %s), or give the path of its "
                   "tokenizer.json",
                   model, folder, name);
      return FALSE;
    }
  if (!open_path (self, folder, error))
    return FALSE;
  g_free (self->name);
  self->name = g_steal_pointer (&name);
  return TRUE;
}

/* @model is a known name, "hf:" and what is in the local cache of Hugging Face's hub, or the path
 * of a file or of a folder with a tokenizer.json. */
gboolean
dlp_model_file_open (DlpModelFile *self, const char *model, GError **error)
{
  const DlpEncoding *encoding = encoding_by_name (model);

  if (encoding && encoding->sha256)
    return open_known (self, model, encoding, error);
  if (g_str_has_prefix (model, "hf:"))
    return open_hub (self, model + strlen ("hf:"), error);
  if (strchr (model, '/') || g_str_has_suffix (model, ".tiktoken") ||
      g_file_test (model, G_FILE_TEST_EXISTS))
    return open_path (self, model, error);

  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NOT_FOUND,
               "no model \"%s\": known are " KNOWN_MODELS
               ", bytes and hf:OWNER/NAME, or give the path of a tokenizer.json, a tekken.json, a "
               "SentencePiece model, the "
               "folder of one of them, or a rank file (lines of base64 and rank)",
               model);
  return FALSE;
}

void
dlp_model_file_clear (DlpModelFile *self)
{
  g_clear_pointer (&self->file, g_bytes_unref);
  g_clear_pointer (&self->where, g_free);
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->path, g_free);
}
