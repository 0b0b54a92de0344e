/** Names the changed fields of an object to two levels, by identity: unchanged parts keep theirs, so nothing is compared deeply. */
import { isObject, type KubeObject } from "../api/machinery/object.ts";

/** "spec.volumes", "metadata.annotations", "data". Hot path (called per change of an admission plugin). */
export function changedFields(before: KubeObject, after: KubeObject): readonly string[] {
  const fields: string[] = [];
  for (const name of changedMembers(before, after)) {
    const [old, now] = [memberOf(before, name), memberOf(after, name)];
    const inner = isObject(old) && isObject(now) ? changedMembers(old, now) : [];
    if (inner.length === 0) fields.push(name);
    for (const member of inner) fields.push(`${name}.${member}`);
  }
  return fields;
}

type Members = Readonly<Record<string, unknown>>;

/** Members of `before` first, then new ones. */
function changedMembers(before: Members, after: Members): readonly string[] {
  const names: string[] = [];
  for (const name in before) if (before[name] !== after[name]) names.push(name);
  for (const name in after) if (before[name] === undefined && after[name] !== undefined && !Object.hasOwn(before, name)) names.push(name);
  return names;
}

function memberOf(object: Members, name: string): unknown {
  return object[name];
}
