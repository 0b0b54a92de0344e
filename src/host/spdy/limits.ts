/**
 * What one connection may cost. Kubernetes' own clients stay far below all of it; a peer that does not is refused the stream, or the
 * connection, before it costs more. Two facts shape the numbers: their library (spdystream) sends what it is given as one frame, however
 * large, and it neither waits for windows nor opens them.
 */

/** A control frame carries a few headers. Data frames have no limit but the format's (16 MiB): they are handed on as their bytes come. */
export const CONTROL_FRAME_BYTES_MAX = 64 << 10;

/** Headers of one frame after unpacking, so that a few bytes that unpack to gigabytes cost no more than this. */
export const HEADER_BLOCK_BYTES_MAX = 64 << 10;

/** Concurrent streams. A forwarded port takes two per connection; the next stream is refused, and the session continues. */
export const STREAMS_MAX = 4_096;

/** Received and not read yet, all streams together. From here on the connection is not read, which holds up all of its streams. */
export const WAITING_BYTES_MAX = 1 << 20;

/** What a chunk costs besides its bytes, so that many tiny ones are not free. */
export const CHUNK_COST_BYTES = 128;

/** Answers (to pings, to new streams) that wait for a peer which sends and does not read. With more of them it is cut off. */
export const ANSWERS_WAITING_BYTES_MAX = 256 << 10;

/** Larger writes go out in pieces, so that streams take turns. It is what Go's io.Copy reads at once. */
export const DATA_FRAME_BYTES = 32 << 10;

/** What a stream may send before it is read, as SPDY/3 has it unless something else is agreed on. */
export const WINDOW_BYTES = 64 << 10;

/** After goodbye, how long the other side has to end the connection, too: enough for what is still on its way over a slow line. */
export const GOODBYE_TIMEOUT_MS = 60_000;
