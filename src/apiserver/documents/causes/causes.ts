/**
 * /debug/k8ts/causes: the latest writes with their causes, oldest first. `?namespace=`, `?name=` and `?resource=deployments.apps` filter.
 * It reveals users and object names, so it needs permission for this path (administrators have it).
 */
import { JSON_TYPE, negotiate, notAcceptable } from "../../../api/machinery/codec/media-type.ts";
import { groupResourceOf } from "../../../api/machinery/object.ts";
import { formatMicroTime } from "../../../api/machinery/time.ts";
import type { RecordedWrite } from "../../framework/causes.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";

export const CAUSES_PATH = "/debug/k8ts/causes";

export function causesDocument({ causes }: DocumentDependencies): Document {
  return {
    name: "causes",
    answers: (path) => path === CAUSES_PATH,
    answer(request) {
      if (negotiate(request.header("accept"), [JSON_TYPE]) === undefined) throw notAcceptable([JSON_TYPE]);
      const asked = new URLSearchParams(request.query);
      const writes = causes.list().filter((write) => matchesFilters(write, asked));
      const body = new TextEncoder().encode(
        JSON.stringify({ kind: "CauseList", apiVersion: "debug.k8ts.io/v1", items: writes.map(shown) }),
      );
      return { code: 200, headers: { "content-type": JSON_TYPE, "cache-control": "no-cache, private" }, body: [body] };
    },
  };
}

function matchesFilters(write: RecordedWrite, asked: URLSearchParams): boolean {
  const wanted = { namespace: write.namespace, name: write.name, resource: resourceOf(write) };
  return Object.entries(wanted).every(([field, value]) => !asked.has(field) || asked.get(field) === value);
}

function resourceOf({ group, plural }: RecordedWrite): string {
  return groupResourceOf(group, plural);
}

function shown(write: RecordedWrite): object {
  const { timeMs, resourceVersion, verb, subresource, namespace, name, user, userAgent, cause, deleted } = write;
  return {
    time: formatMicroTime(timeMs),
    resourceVersion,
    verb,
    resource: resourceOf(write),
    ...(subresource === "" ? {} : { subresource }),
    ...(namespace === "" ? {} : { namespace }),
    ...(name === "" ? {} : { name }),
    user,
    userAgent,
    ...(deleted === undefined ? {} : { deleted }),
    ...(cause === undefined ? {} : { cause }),
  };
}
