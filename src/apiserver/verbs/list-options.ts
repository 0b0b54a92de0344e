/** Validates combinations of resourceVersion, resourceVersionMatch, limit, continue and sendInitialEvents, with upstream's messages. */
import { describeFieldError, forbidden, invalid, notSupported, type FieldError } from "../../api/machinery/field-error.ts";
import { badRequest, invalidObject, StatusError } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";

export function checkListOptions(options: RequestOptions, { isWatch }: { readonly isWatch: boolean }): void {
  const errors = [...(isWatch ? watchErrors(options) : listErrors(options))];
  if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
}

const MATCHES = ["Exact", "NotOlderThan"];

function* listErrors(options: RequestOptions): Iterable<FieldError> {
  const { resourceVersion = "", resourceVersionMatch: match = "", continue: token = "", sendInitialEvents } = options;
  if (match !== "") {
    if (resourceVersion === "")
      yield forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (token !== "") yield forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    if (!MATCHES.includes(match)) yield notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]);
    if (match === "Exact" && resourceVersion === "0") {
      yield forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (sendInitialEvents !== undefined) yield forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
}

function* watchErrors(options: RequestOptions): Iterable<FieldError> {
  const { resourceVersionMatch: match = "", sendInitialEvents, continue: token = "" } = options;
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    yield forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  // As upstream, names another option than the invalid one.
  if (token !== "") yield forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
  if (match === "") return;
  if (sendInitialEvents === undefined) {
    yield forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match !== "NotOlderThan") yield notSupported("resourceVersionMatch", match, ["NotOlderThan"]);
}

/** undefined: not set. */
export function revisionOf({ resourceVersion = "" }: RequestOptions): number | undefined {
  if (resourceVersion === "") return undefined;
  if (!/^\d+$/.test(resourceVersion)) throw cannotParse(resourceVersion, "invalid syntax");
  const revision = Number(resourceVersion);
  if (revision >= 2 ** 64) throw cannotParse(resourceVersion, "value out of range");
  return Number.isSafeInteger(revision) ? revision : Number.MAX_SAFE_INTEGER;
}

function cannotParse(resourceVersion: string, why: string): StatusError {
  const error = invalid("resourceVersion", resourceVersion, `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: ${why}`);
  return badRequest(`invalid resource version: ${describeFieldError(error)}`);
}

/** The client has seen a revision that this server has not reached (yet). */
export function tooLargeRevision(wanted: number, current: number): StatusError {
  return new StatusError("Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
  });
}
