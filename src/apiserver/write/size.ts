/**
 * What the store would refuse for its size is refused before it is validated: rules and owners are worked out for every item of an object,
 * and one that cannot be stored whatever they say is not worth the time.
 * Not here: the limit of a body (http), and the store's own check, which counts owners too.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { tooLarge } from "../../api/machinery/status-error.ts";
import { jsonByteLength } from "../../base/json-size.ts";
import { OBJECT_BYTES_MAX } from "../../store/store.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";

/** Defaults make of a body at most five times as much, so that a smaller one need not be counted: nearly all are. */
const COUNTED_BODY_BYTES_MIN = OBJECT_BYTES_MAX / 6;

export function refuseTooLarge({ resource, name }: Endpoint, object: KubeObject, { verb, body }: ApiRequest): void {
  if (!resource.stored || body?.form !== "bytes") return;
  // How large a patch makes an object, only the object tells.
  if (verb !== "patch" && body.bytes.length < COUNTED_BODY_BYTES_MIN) return;
  const sizeBytes = jsonByteLength(object);
  if (sizeBytes <= OBJECT_BYTES_MAX) return;
  const what = `${name.plural} "${object.metadata.name}"`;
  throw tooLarge(`Cannot store ${what}: it is ${sizeBytes} bytes large, at most ${OBJECT_BYTES_MAX} are allowed`);
}
