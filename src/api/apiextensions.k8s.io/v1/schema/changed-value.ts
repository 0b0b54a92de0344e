/** JSON values changed by copying: what no change was made to keeps its identity. A member may be called anything, `__proto__` too. */
import type { Json, JsonObject } from "../../../machinery/object.ts";

/** Every member as `change` makes it; undefined takes it out. */
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
