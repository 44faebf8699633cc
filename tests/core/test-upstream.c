/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-upstream.h>

#include "dlp-element-private.h"

/* An element with as many pads as a test wants. */
#define TEST_TYPE_PLAIN (test_plain_get_type ())
G_DECLARE_DERIVABLE_TYPE (TestPlain, test_plain, TEST, PLAIN, DlpElement)

struct _TestPlainClass
{
  DlpElementClass parent_class;
};

G_DEFINE_TYPE (TestPlain, test_plain, DLP_TYPE_ELEMENT)

static void
test_plain_class_init (TestPlainClass *klass)
{
}

static void
test_plain_init (TestPlain *self)
{
}

/* One that has a model. Its size is of another type than the tokenizer's. */
#define TEST_TYPE_MODEL (test_model_get_type ())
G_DECLARE_FINAL_TYPE (TestModel, test_model, TEST, MODEL, TestPlain)

struct _TestModel
{
  TestPlain parent_instance;

  guint vocab_size;
  const char *fingerprint;
};

G_DEFINE_FINAL_TYPE (TestModel, test_model, TEST_TYPE_PLAIN)

static void
test_model_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  TestModel *self = TEST_MODEL (object);

  if (id == 1)
    g_value_set_uint (value, self->vocab_size);
  else if (id == 2)
    g_value_set_string (value, self->fingerprint);
  else
    g_value_set_string (value, "gpt2");
}

static void
test_model_class_init (TestModelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->get_property = test_model_get_property;
  g_object_class_install_property (
      object_class, 1, g_param_spec_uint ("vocab-size", NULL, NULL, 0, G_MAXUINT, 0, flags));
  g_object_class_install_property (
      object_class, 2, g_param_spec_string ("model-fingerprint", NULL, NULL, NULL, flags));
  g_object_class_install_property (object_class, 3,
                                   g_param_spec_string ("model-name", NULL, NULL, NULL, flags));
}

static void
test_model_init (TestModel *self)
{
}

static DlpElement *
make (GType type, const char *name)
{
  DlpElement *element = g_object_new (type, NULL);

  dlp_element_set_name (element, name);
  return element;
}

static void
join (DlpElement *from, DlpElement *to)
{
  dlp_pad_link (dlp_element_add_pad (from, "out", DLP_PAD_OUTPUT),
                dlp_element_add_pad (to, "in", DLP_PAD_INPUT));
}

/* source -> a -> plain -> sink; source2 -> b ---^ */
typedef struct
{
  DlpElement *source, *source2, *a, *b, *plain, *sink;
} Graph;

static void
set_up (Graph *graph, gconstpointer data)
{
  graph->source = make (TEST_TYPE_MODEL, "source");
  graph->source2 = make (TEST_TYPE_PLAIN, "source2");
  graph->a = make (TEST_TYPE_MODEL, "a");
  graph->b = make (TEST_TYPE_MODEL, "b");
  graph->plain = make (TEST_TYPE_PLAIN, "plain");
  graph->sink = make (TEST_TYPE_PLAIN, "sink");
  join (graph->source, graph->a);
  join (graph->source2, graph->b);
  join (graph->a, graph->plain);
  join (graph->b, graph->plain);
  join (graph->plain, graph->sink);
  TEST_MODEL (graph->a)->vocab_size = TEST_MODEL (graph->b)->vocab_size = 50257;
  TEST_MODEL (graph->a)->fingerprint = TEST_MODEL (graph->b)->fingerprint = "abc";
  /* Behind another one: not asked. */
  TEST_MODEL (graph->source)->vocab_size = 7;
}

static void
tear_down (Graph *graph, gconstpointer data)
{
  g_object_unref (graph->source);
  g_object_unref (graph->source2);
  g_object_unref (graph->a);
  g_object_unref (graph->b);
  g_object_unref (graph->plain);
  g_object_unref (graph->sink);
}

static void
test_list (Graph *graph, gconstpointer data)
{
  g_autoptr (GPtrArray) models = dlp_element_list_upstream (graph->sink, "vocab-size");
  g_autoptr (GPtrArray) nearest = dlp_element_list_upstream (graph->sink, "name");
  g_autoptr (GPtrArray) none = dlp_element_list_upstream (graph->sink, "no-such");
  g_autoptr (GPtrArray) above = dlp_element_list_upstream (graph->a, "vocab-size");
  g_autoptr (GPtrArray) top = dlp_element_list_upstream (graph->source, "name");

  g_assert_cmpuint (models->len, ==, 2);
  g_assert_true (models->pdata[0] == graph->a);
  g_assert_true (models->pdata[1] == graph->b);
  g_assert_cmpuint (nearest->len, ==, 1);
  g_assert_true (nearest->pdata[0] == graph->plain);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_cmpuint (above->len, ==, 1);
  g_assert_true (above->pdata[0] == graph->source);
  g_assert_cmpuint (top->len, ==, 0);
}

static void
test_model (Graph *graph, gconstpointer data)
{
  g_auto (DlpUpstreamModel) model = { NULL };
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_element_find_upstream_model (graph->sink, &model, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (model.name, ==, "gpt2");
  g_assert_cmpstr (model.fingerprint, ==, "abc");
  g_assert_cmpuint (model.vocab_size, ==, 50257);

  g_assert_true (dlp_element_find_upstream_model (graph->b, &model, &error));
  g_assert_null (model.name);
  g_assert_cmpuint (model.vocab_size, ==, 0);
}

static void
test_differ (Graph *graph, gconstpointer data)
{
  for (guint i = 0; i < 2; i++)
    {
      g_auto (DlpUpstreamModel) model = { NULL };
      g_autoptr (GError) error = NULL;

      TEST_MODEL (graph->b)->vocab_size = i == 0 ? 50256 : 50257;
      TEST_MODEL (graph->b)->fingerprint = i == 0 ? "abc" : "abd";
      g_assert_false (dlp_element_find_upstream_model (graph->sink, &model, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_assert_nonnull (strstr (error->message, "a has model gpt2 of 50257 ids"));
      g_assert_nonnull (strstr (error->message, "b has model"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/upstream/list", Graph, NULL, set_up, test_list, tear_down);
  g_test_add ("/upstream/model", Graph, NULL, set_up, test_model, tear_down);
  g_test_add ("/upstream/differ", Graph, NULL, set_up, test_differ, tear_down);

  return g_test_run ();
}
