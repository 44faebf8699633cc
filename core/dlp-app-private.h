/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>

#include "dlp-async-private.h"
#include "dlp-element-private.h"

G_BEGIN_DECLS

/* What the two elements between a pipeline and its program have in common: a place where threads of
 * the program and the element's own meet. No function of the program is called under its lock. */
typedef struct
{
  DlpElement *element;
  pthread_mutex_t lock;
  pthread_cond_t cond;
  GMainContext *main_context; /* lock */
  bool busy;                  /* lock: a push or pull goes on */
  DlpAsyncCall *pending;      /* lock: the one that goes on, if it is asynchronous and waits */
  bool sleeps;                /* lock: the element waits for the program */
  bool over;                  /* lock: the element has come to its end, or was closed */
  GError *failure;            /* lock: what the run ended with */
  bool declared;              /* the element's thread */
} DlpApp;

/* What the pipeline tells such an element, on any thread and without a lock. */
typedef struct _DlpAppHooks DlpAppHooks;
struct _DlpAppHooks
{
  /* It is prepared: the state, if there is one, was loaded. */
  void (*ready) (DlpElement *element);
  /* It or the run has ended, with @error (nullable). May be called more than once. */
  void (*over) (DlpElement *element, const GError *error);
  /* (nullable): whether a run may be continued. */
  bool (*check_resumable) (DlpElement *element, GError **error);
};

void dlp_app_init (DlpApp *self, DlpElement *element, const DlpAppHooks *hooks);
void dlp_app_clear (DlpApp *self);
void dlp_app_set_main_context (DlpApp *self, GMainContext *context);

/* False: another call goes on; @what is how it is named. */
bool dlp_app_begin (DlpApp *self, const char *what, GError **error);
void dlp_app_end (DlpApp *self);
/* A wait of dlp_app_wait() ends when @cancellable (nullable) says so. Not under the lock. */
gulong dlp_app_watch (DlpApp *self, GCancellable *cancellable);
/* (transfer full): a call to be answered in the pipeline's context. */
DlpAsyncCall *dlp_app_make_call (DlpApp *self,
                                 GCancellable *cancellable,
                                 gpointer tag,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data);

/* ---- the lock is held ---- */

/* The first failure stays, but for one that only said that the run was being stopped. */
void dlp_app_take_failure (DlpApp *self, const GError *error);
bool dlp_app_set_failed (DlpApp *self, GError **error);
/* The run was ended by the program: what is on its way is dropped. */
bool dlp_app_was_ended (DlpApp *self);

/* ---- the element's thread ---- */

/* The wait for the program, for the property `status` and the watchdog; NULL: none. */
void dlp_app_declare (DlpApp *self, const char *status);

G_END_DECLS
