/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_MSGPACK_READER (dlp_msgpack_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpMsgpackReader, dlp_msgpack_reader, DLP, MSGPACK_READER, DlpReader)

G_END_DECLS
