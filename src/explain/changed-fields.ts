/** Names the changed fields of an object to two levels, by identity: unchanged parts keep theirs, so nothing is compared deeply. */
import { isObject, type KubeObject } from "../api/machinery/object.ts";

/** "spec.volumes", "metadata.annotations", "data". Hot path (called per change of an admission plugin). */
export function changedFields(before: KubeObject, after: KubeObject): readonly string[] {
  return changedMembers(before, after).flatMap((name) => {
    const [old, now] = [memberOf(before, name), memberOf(after, name)];
    const inner = isObject(old) && isObject(now) ? changedMembers(old, now) : [];
    return inner.length === 0 ? [name] : inner.map((member) => `${name}.${member}`);
  });
}

type Members = Readonly<Record<string, unknown>>;

function changedMembers(before: Members, after: Members): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]);
}

function memberOf(object: Members, name: string): unknown {
  return object[name];
}
