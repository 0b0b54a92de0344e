/** Copy-on-write changes of JSON values: unchanged parts keep their identity. A member may have any name, `__proto__` too. */
import type { Json, JsonObject } from "../../../machinery/object.ts";

/** Maps every member; undefined removes it. */
export function changedMembers(object: JsonObject, change: (member: Json, name: string) => Json | undefined): JsonObject {
  let isChanged = false;
  const members: [string, Json][] = [];
  for (const [name, member = null] of Object.entries(object)) {
    const next = change(member, name);
    if (next !== member) isChanged = true;
    if (next !== undefined) members.push([name, next]);
  }
  return isChanged ? Object.fromEntries(members) : object;
}

export function changedList(list: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  const next = list.map(change);
  return next.some((item, index) => item !== list[index]) ? next : list;
}
