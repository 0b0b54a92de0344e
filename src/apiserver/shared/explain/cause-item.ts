/** A recorded cause as the explain API shows it. */
import { groupResourceOf } from "../../../api/machinery/object.ts";
import { formatMicroTime } from "../../../api/machinery/time.ts";
import type { CauseItem } from "../../../explain/explain-api.ts";
import type { CauseRecord } from "../../framework/recording/causes.ts";

export function causeItem(record: CauseRecord): CauseItem {
  const { id, timeMs, revision, requestId, verb, subresource, namespace, name, user, userAgent } = record;
  const { cause, admission, stages, deleted, refusal } = record;
  return {
    id,
    time: formatMicroTime(timeMs),
    ...(revision === 0 ? {} : { resourceVersion: String(revision) }),
    ...(requestId === undefined ? {} : { requestID: requestId }),
    verb,
    resource: resourceOf(record),
    ...(subresource === "" ? {} : { subresource }),
    ...(namespace === "" ? {} : { namespace }),
    ...(name === "" ? {} : { name }),
    user,
    userAgent,
    ...(deleted === undefined ? {} : { deleted }),
    ...(cause === undefined ? {} : { cause }),
    ...(stages === undefined ? {} : { stages }),
    ...(admission === undefined ? {} : { admission }),
    ...(refusal === undefined ? {} : { refusal }),
  };
}

export function resourceOf({ group, plural }: Pick<CauseRecord, "group" | "plural">): string {
  return groupResourceOf(group, plural);
}
