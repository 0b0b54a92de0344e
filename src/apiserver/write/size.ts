/**
 * Rejects objects that are too large for the store before they are validated: validation and field ownership visit every item of an object,
 * which is wasted time for one that cannot be stored. Not here: the limit of a body (http), and the store's own check, which includes
 * managedFields.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { tooLarge } from "../../api/machinery/status-error.ts";
import { jsonByteLength } from "../../base/json-size.ts";
import { OBJECT_BYTES_MAX } from "../../store/store.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";

/** Defaults enlarge a body at most five times, so a smaller one need not be measured: nearly all are. */
const COUNTED_BODY_BYTES_MIN = OBJECT_BYTES_MAX / 6;

export function rejectTooLarge({ resource, name }: Endpoint, object: KubeObject, { verb, body }: ApiRequest): void {
  if (!resource.stored || body?.form !== "bytes") return;
  // The size after a patch is known only from the object.
  if (verb !== "patch" && body.bytes.length < COUNTED_BODY_BYTES_MIN) return;
  const sizeBytes = jsonByteLength(object);
  if (sizeBytes <= OBJECT_BYTES_MAX) return;
  const what = `${name.plural} "${object.metadata.name}"`;
  throw tooLarge(`Cannot store ${what}: it is ${sizeBytes} bytes large, at most ${OBJECT_BYTES_MAX} are allowed`);
}
