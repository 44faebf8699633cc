/* SPDX-License-Identifier: MIT */

#include <cstring>
#include <simdjson.h>
#include <string>

#include "bench-json.h"

/*
 * Two front ends. DOM checks the whole document, as json_parse_record() does. On-demand does not
 * check what it skips, so it does less than is asked for; it is shown for comparison.
 */

const char *
bench_simdjson_get_name (void)
{
  static const std::string name = simdjson::get_active_implementation ()->name ();

  return name.c_str ();
}

template <typename Measure>
static BenchResult
for_each_line (const char *data, gsize len, Measure measure)
{
  BenchResult result = {};
  const char *end = data + len;

  for (const char *p = data; p < end;)
    {
      auto newline = static_cast<const char *> (memchr (p, '\n', end - p));
      const char *line_end = newline != nullptr ? newline : end;
      size_t text_len = 0;

      if (measure (p, static_cast<size_t> (line_end - p), &text_len))
        {
          result.records++;
          result.text_bytes += text_len;
        }
      else
        result.bad++;
      p = line_end + 1;
    }

  return result;
}

BenchResult
bench_simdjson_dom (const char *data, gsize len)
{
  simdjson::dom::parser parser;

  return for_each_line (data, len, [&] (const char *p, size_t n, size_t *text_len) {
    simdjson::dom::element document;
    std::string_view text;

    /* The padding is there: no copy. */
    if (parser.parse (reinterpret_cast<const uint8_t *> (p), n, false).get (document) ||
        document["text"].get (text))
      return false;
    *text_len = text.size ();
    return true;
  });
}

BenchResult
bench_simdjson_on_demand (const char *data, gsize len)
{
  simdjson::ondemand::parser parser;

  return for_each_line (data, len, [&] (const char *p, size_t n, size_t *text_len) {
    simdjson::ondemand::document document;
    std::string_view text;

    if (parser.iterate (p, n, n + simdjson::SIMDJSON_PADDING).get (document) ||
        document["text"].get (text))
      return false;
    *text_len = text.size ();
    return true;
  });
}
