/**
 * Routes changes to listeners. Every listener is in the narrowest group that its request allows: one object, one value of an indexed field
 * (the Pods of a node), one namespace, or everything; so a change costs nothing for listeners that it does not concern.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ChangeListener, ObjectChange, WatchScope } from "../framework/storage/storage.ts";

export type FieldReaders = Readonly<Record<string, { read(object: KubeObject): string }["read"]>>;

type Group = Set<ChangeListener>;

export class WatchIndex {
  readonly #readers: FieldReaders;
  readonly #everything: Group = new Set();
  readonly #byNamespace = new Map<string, Group>();
  readonly #byName = new Map<string, Group>();
  /** Field path → value → group. */
  readonly #byField = new Map<string, Map<string, Group>>();
  #size = 0;

  constructor(readers: FieldReaders) {
    this.#readers = readers;
  }

  get size(): number {
    return this.#size;
  }

  add(listener: ChangeListener): void {
    const [groups, key] = this.#placeOf(listener.scope);
    const group = groups === undefined ? this.#everything : (groups.get(key) ?? newGroup(groups, key));
    if (group.has(listener)) return;
    group.add(listener);
    this.#size++;
  }

  remove(listener: ChangeListener): void {
    const [groups, key] = this.#placeOf(listener.scope);
    const group = groups === undefined ? this.#everything : groups.get(key);
    if (group?.delete(listener) !== true) return;
    this.#size--;
    if (group.size === 0) groups?.delete(key);
  }

  /** Notifies the listeners that it may concern. Each matches by its own selectors. */
  notify(change: ObjectChange): void {
    notifyGroup(this.#everything, change);
    if (change.namespace !== "" && this.#byNamespace.size > 0) notifyGroup(this.#byNamespace.get(change.namespace), change);
    if (this.#byName.size > 0) {
      notifyGroup(this.#byName.get(`${change.namespace}/${change.name}`), change);
      if (change.namespace !== "") notifyGroup(this.#byName.get(`/${change.name}`), change);
    }
    for (const [path, groups] of this.#byField) this.#notifyByField(path, groups, change);
  }

  all(): ChangeListener[] {
    const groups = [this.#byNamespace, this.#byName, ...this.#byField.values()].flatMap((some) => [...some.values()]);
    return [this.#everything, ...groups].flatMap((group) => [...group]);
  }

  /** A change of an indexed value concerns the listeners of the old value and of the new one. */
  #notifyByField(path: string, groups: Map<string, Group>, change: ObjectChange): void {
    const read = this.#readers[path];
    if (groups.size === 0 || read === undefined) return;
    const now = read(change.object.object);
    const before = change.previous === undefined ? now : read(change.previous.object);
    notifyGroup(groups.get(now), change);
    if (before !== now) notifyGroup(groups.get(before), change);
  }

  #placeOf({ namespace, name, field }: WatchScope): [Map<string, Group> | undefined, string] {
    if (name !== undefined) return [this.#byName, `${namespace}/${name}`];
    if (field !== undefined && Object.hasOwn(this.#readers, field.path)) return [this.#fieldGroups(field.path), field.value];
    return namespace === "" ? [undefined, ""] : [this.#byNamespace, namespace];
  }

  #fieldGroups(path: string): Map<string, Group> {
    const known = this.#byField.get(path);
    if (known !== undefined) return known;
    const created = new Map<string, Group>();
    this.#byField.set(path, created);
    return created;
  }
}

function newGroup(groups: Map<string, Group>, key: string): Group {
  const group: Group = new Set();
  groups.set(key, group);
  return group;
}

function notifyGroup(group: Group | undefined, change: ObjectChange): void {
  if (group === undefined) return;
  for (const listener of group) listener.changed(change);
}
