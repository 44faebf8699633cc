/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-random.h>

typedef struct
{
  guint64 seed;
  guint64 stage;
  const char *name;
  guint64 source;
  guint64 counter;
  guint64 expected;
} Draw;

/* Computed by the reference model of the order of records. */
static const Draw draws[] = {
  { 0, 0, "mix", 0, 0, 0x6994ed713a492724 },
  { 0, 0, "shuffle", 0, 0, 0xbe553636a0ee8295 },
  { 0, 0, "shards", 0, 0, 0xf75fa03d314bb91e },
  { 0, 0, "", 0, 0, 0x5b21f68ffa77f14c },
  { 0xffffffffffffffff, 0xffffffffffffffff, "mix", 0xffffffffffffffff, 0xffffffffffffffff,
    0x44ed551b16f4234a },
  { 0xffffffffffffffff, 0, "shards", 0, 0xfffffffffffffffe, 0x584917e1646adec1 },
  { 0, 0xffffffffffffffff, "shards", 1, 0, 0xf75fa03d314bb91e },
  { 0x2a, 0, "mix", 0, 0x100000000, 0xc2388f94aec32a0d },
  { 0x2a, 0, "mix", 0, 0xffffffff, 0x134d4362eac4f470 },
  { 0x8000000000000000, 1, "shuffle", 2, 0x8000000000000000, 0xd1040f9f4ce66250 },
  { 7, 3, "zuf\303\244llig", 5, 0xb, 0x54d79edd9f6a88f4 },
  { 0, 0, "mix", 0, 0, 0x6994ed713a492724 },
  { 0, 0, "mix", 1, 1, 0xab9d8a6849208cf5 },
  { 0, 1, "mix", 0, 2, 0x1428a4dfca077330 },
  { 0, 2, "mix", 7, 0xf4240, 0xefb4081ee946ad38 },
  { 1, 0, "mix", 0, 0, 0x3f655f50d13a8979 },
  { 1, 0, "mix", 1, 1, 0x93a87c152098448a },
  { 1, 1, "mix", 0, 2, 0xd08328feb4a13b8e },
  { 1, 2, "mix", 7, 0xf4240, 0x6f4272b6400708ab },
  { 0x2a, 0, "mix", 0, 0, 0x30b9b2cdbde294e4 },
  { 0x2a, 0, "mix", 1, 1, 0xabe68a7b928073a1 },
  { 0x2a, 1, "mix", 0, 2, 0x53a30c855dc760e7 },
  { 0x2a, 2, "mix", 7, 0xf4240, 0x21c9c8d45ead36b4 },
  { 0x134d8df, 0, "mix", 0, 0, 0x6ab6683873a38f82 },
  { 0x134d8df, 0, "mix", 1, 1, 0x6a2cb8d54b625a28 },
  { 0x134d8df, 1, "mix", 0, 2, 0x2b9e7606e157682d },
  { 0x134d8df, 2, "mix", 7, 0xf4240, 0xeae5c709dbcdeab0 },
  { 0, 0, "shuffle", 0, 0, 0xbe553636a0ee8295 },
  { 0, 0, "shuffle", 1, 1, 0x457cfe4b13db2752 },
  { 0, 1, "shuffle", 0, 2, 0x976527e77a8d3ddc },
  { 0, 2, "shuffle", 7, 0xf4240, 0xe29abbcf8ea655ab },
  { 1, 0, "shuffle", 0, 0, 0xab658dc7ad5c747b },
  { 1, 0, "shuffle", 1, 1, 0x603f5303901138e0 },
  { 1, 1, "shuffle", 0, 2, 0x44a48ab6e8955b7c },
  { 1, 2, "shuffle", 7, 0xf4240, 0x03ff62e1a5ad956d },
  { 0x2a, 0, "shuffle", 0, 0, 0xddc1a3619a01722a },
  { 0x2a, 0, "shuffle", 1, 1, 0x45ab5eac452c0fe2 },
  { 0x2a, 1, "shuffle", 0, 2, 0x6a59fa91b448e45a },
  { 0x2a, 2, "shuffle", 7, 0xf4240, 0x818bee5a3fce7453 },
  { 0x134d8df, 0, "shuffle", 0, 0, 0xd93d5613533ff9b8 },
  { 0x134d8df, 0, "shuffle", 1, 1, 0x18d953e92326b1f1 },
  { 0x134d8df, 1, "shuffle", 0, 2, 0x09f1f1fa53b87945 },
  { 0x134d8df, 2, "shuffle", 7, 0xf4240, 0x1689be3075cb9687 },
  { 0, 0, "shards", 0, 0, 0xf75fa03d314bb91e },
  { 0, 0, "shards", 1, 1, 0x7381825cb1976f05 },
  { 0, 1, "shards", 0, 2, 0xfb020033910291d9 },
  { 0, 2, "shards", 7, 0xf4240, 0xb82090d6628f923d },
  { 1, 0, "shards", 0, 0, 0x4005af950a6cad00 },
  { 1, 0, "shards", 1, 1, 0xe1bb1cde47ff573e },
  { 1, 1, "shards", 0, 2, 0xa4bb77f0fa4fcd66 },
  { 1, 2, "shards", 7, 0xf4240, 0xe7ac46796c1b9609 },
  { 0x2a, 0, "shards", 0, 0, 0x2de8aa21c3fafae7 },
  { 0x2a, 0, "shards", 1, 1, 0xb5344fcbd40a5b78 },
  { 0x2a, 1, "shards", 0, 2, 0xa67bef5a55521219 },
  { 0x2a, 2, "shards", 7, 0xf4240, 0xce99b88610390b3f },
  { 0x134d8df, 0, "shards", 0, 0, 0x6f8ed6d6dd7414c2 },
  { 0x134d8df, 0, "shards", 1, 1, 0x62dbae95d61fca95 },
  { 0x134d8df, 1, "shards", 0, 2, 0xf1a42cd3a65f9562 },
  { 0x134d8df, 2, "shards", 7, 0xf4240, 0xb8bf8ad2cfaae9b0 },
  { 0x91b7584a2265b1f5, 0xcd613e30d8f16adf, "mix", 0x1e2feb89414c343c, 0xc2ce6f447ed4d57b,
    0xd3b0840ecdb4adbc },
  { 0x78e510617311d8a3, 0x612e7696a6cecc1b, "shuffle", 0x7ce42c8218072e8c, 0xe4b06ce60741c7a8,
    0xf7f3048d23de8477 },
  { 0x63ca828dd5f4b3b2, 0x9b810e766ec9d286, "mix", 0x7204e52db2221a58, 0xb8b6d8fe442e3d43,
    0x9cde1b80cebd8c0a },
  { 0x3a902931cd447e35, 0xf1fd42a29755d4c1, "mix", 0x51431193e6c3f339, 0x5b6e6e307d4bedc,
    0x00c41ae023f03c1c },
  { 0xa648a7dd06839eb9, 0x25b413f8a9a021e, "sampler", 0x37730edfafbd67f9, 0x6c0fd4f5f8130c42,
    0x6da89fdb9736d632 },
  { 0x76f3787b9d179e0, 0x38c0c8fd8712b8bc, "sampler", 0x7eed8d14f06d3fef, 0x3bab6c398d88348a,
    0x0295a1511b2cda83 },
  { 0x3b1a11df587fd280, 0x380208a9ad45f23d, "sampler", 0x4a2f20aaf3c64af7, 0x5805975ed2f89d9,
    0x9758ba6dd3e96170 },
  { 0xd66b829e6a8ac4ba, 0x8e73ca47ea90a8f0, "mix", 0xa11d459a2f978d87, 0xb94067edfe175330,
    0xac7d52597ce94fe9 },
  { 0x4be03db0dc2574bd, 0xbe3edc0a1ef2a4f0, "shards", 0xb8b333a8e5446dd4, 0xb610a9f7f9270f4e,
    0x5a3e043befcef86a },
  { 0xefba91fc803468b6, 0x6c0f3459f79b17ae, "shuffle", 0x48beab134da98f1d, 0xf9341c68966baea1,
    0x311d09ed615e3487 },
  { 0x7fd63116e1ea24c4, 0xf0dfb4a5d8a064df, "sampler", 0xda71144896c8da19, 0x7af027bc08d6af57,
    0x3e5ce7cd406b4cae },
  { 0xbe6521cc3e2434e3, 0x677f6cbdcc22af58, "sampler", 0x2c4a3698aa2ca1af, 0x8c7e134f5dfbd3d1,
    0xea1a8cb93c87b960 },
};

static void
test_draws (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (draws); i++)
    {
      const Draw *d = &draws[i];
      DlpRandom random = dlp_random_init (d->seed, d->stage, d->name, d->source);

      g_assert_cmphex (dlp_random_draw (random, d->counter), ==, d->expected);
    }
}

static void
test_doubles (void)
{
  DlpRandom random = dlp_random_init (42, 0, "mix", 0);
  const double expected[] = { 0x1.85cd966def148p-3, 0x1.b93c64d0f8224p-2, 0x1.5efd5a728c3c8p-1,
                              0x1.ef1e64b65167cp-2 };
  double sum = 0.0;

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_true (dlp_random_draw_double (random, i) == expected[i]);

  for (guint i = 0; i < 100000; i++)
    {
      double value = dlp_random_draw_double (random, i);

      g_assert_cmpfloat (value, >=, 0.0);
      g_assert_cmpfloat (value, <, 1.0);
      sum += value;
    }
  g_assert_cmpfloat (sum, >, 49500.0);
  g_assert_cmpfloat (sum, <, 50500.0);
}

static void
shuffle_files (guint *order, guint n, DlpRandom random, guint64 counter)
{
  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n - 1; i > 0; i--)
    {
      guint j = dlp_random_draw (random, counter++) % (i + 1);
      guint other = order[i];

      order[i] = order[j];
      order[j] = other;
    }
}

/* The order of ten files in the first two epochs, as the model gives it. */
static void
test_file_order (void)
{
  const guint first[] = { 4, 0, 5, 8, 6, 3, 1, 2, 9, 7 };
  const guint second[] = { 8, 4, 7, 1, 3, 2, 6, 5, 9, 0 };
  DlpRandom random = dlp_random_init (5, 0, "shards", 2);
  guint order[10];

  shuffle_files (order, 10, random, 0);
  g_assert_cmpmem (order, sizeof order, first, sizeof first);
  shuffle_files (order, 10, random, 9);
  g_assert_cmpmem (order, sizeof order, second, sizeof second);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/random/draws", test_draws);
  g_test_add_func ("/random/doubles", test_doubles);
  g_test_add_func ("/random/file-order", test_file_order);
  return g_test_run ();
}
