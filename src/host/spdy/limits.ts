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

/** Maximum of received, unread bytes of all streams. Above it the connection is not read, which blocks all of its streams. */
export const WAITING_BYTES_MAX = 1 << 20;

/** Accounted overhead per chunk, so that many tiny ones are not free. */
export const CHUNK_COST_BYTES = 128;

/** Maximum number of queued responses (to pings, to new streams) for a peer that does not read. With more it is disconnected. */
export const ANSWERS_WAITING_BYTES_MAX = 256 << 10;

/** Larger writes are split, so that streams alternate. It is the buffer size of Go's io.Copy. */
export const DATA_FRAME_BYTES = 32 << 10;

/** Initial window of a stream, the default of SPDY/3. */
export const WINDOW_BYTES = 64 << 10;

/** Timeout after GOAWAY for the peer to close the connection, too: enough for data in flight over a slow line. */
export const GOODBYE_TIMEOUT_MS = 60_000;
