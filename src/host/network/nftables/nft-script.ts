/**
 * Scripts for `nft -f -`, each one transaction: packets see the table before it or after it, never a part. `replaceScript` makes a table
 * complete whatever it contained; `changeScript` writes the difference of two values. An empty script means that nothing differs.
 */
import type { ExistingTable, NftSet, NftTable } from "./nft-table.ts";

/** Elements per command: a line of some ten kilobytes, which keeps messages of nft about it readable. */
const ELEMENTS_PER_COMMAND = 500;

export interface NftScript {
  readonly text: string;
  /** Rules and elements that it writes or deletes, for metrics. */
  readonly written: number;
}

/**
 * Replaces everything in the table. A table of another layout (its base chains may differ, and they cannot be changed) is recreated; in one
 * of the same layout, sets that packets fill keep their content.
 */
export function replaceScript(table: NftTable, existing: ExistingTable | undefined): NftScript {
  const script = new Script(table);
  script.add(`add table ${script.table}`);
  const isSameLayout = existing?.chains.includes(table.layout) === true;
  if (existing !== undefined && isSameLayout) emptyTable(script, table, existing);
  else if (existing !== undefined) script.add(`delete table ${script.table}`, `add table ${script.table}`);
  for (const [name, set] of table.sets) script.addSet(name, set);
  for (const [name, { declaration }] of table.baseChains) script.add(`add chain ${script.table} ${name} { ${declaration} }`);
  for (const name of table.chains.keys()) script.add(`add chain ${script.table} ${name}`);
  for (const [name, rules] of table.chains) script.addRules(name, rules);
  for (const [name, set] of table.sets) script.addElements(name, [...(set.elements ?? [])]);
  return script.done();
}

/** Maps are emptied before chains are deleted: an element that jumps to a chain holds it. */
function emptyTable(script: Script, table: NftTable, { chains, sets }: ExistingTable): void {
  script.add(`flush table ${script.table}`);
  for (const { kind, name } of sets) {
    const wanted = table.sets.get(name);
    if (wanted === undefined || wanted.elements !== undefined) script.add(`flush ${kind} ${script.table} ${name}`);
  }
  for (const name of chains) if (!table.chains.has(name)) script.add(`delete chain ${script.table} ${name}`);
  for (const { kind, name } of sets) if (!table.sets.has(name)) script.add(`delete ${kind} ${script.table} ${name}`);
}

/** Order: what is new, rules, elements, what is no longer used. So nothing refers to what does not exist at any point of the script. */
export function changeScript(from: NftTable, to: NftTable): NftScript {
  const script = new Script(to);
  for (const [name, set] of to.sets) if (!from.sets.has(name)) script.addSet(name, set);
  for (const name of to.chains.keys()) if (!from.chains.has(name)) script.add(`add chain ${script.table} ${name}`);
  for (const [name, rules] of to.chains) {
    const before = from.chains.get(name);
    if (before === rules || (before !== undefined && areEqual(before, rules))) continue;
    if (before !== undefined && before.length > 0) script.add(`flush chain ${script.table} ${name}`);
    script.addRules(name, rules);
  }
  for (const [name, set] of to.sets) changeElements(script, name, from.sets.get(name), set);
  const isGone = (name: string): boolean => !to.chains.has(name);
  const gone = [...from.chains.keys()].filter(isGone);
  // All are emptied before the first is deleted: they may jump to each other.
  for (const [name, set] of from.sets) if (!to.sets.has(name)) script.add(`flush ${set.kind} ${script.table} ${name}`);
  for (const name of gone) script.add(`flush chain ${script.table} ${name}`);
  for (const name of gone) script.delete(`delete chain ${script.table} ${name}`);
  for (const [name, set] of from.sets) if (!to.sets.has(name)) script.delete(`delete ${set.kind} ${script.table} ${name}`);
  return script.done();
}

function changeElements(script: Script, name: string, from: NftSet | undefined, to: NftSet): void {
  const [before, now] = [from?.elements, to.elements];
  if (now === undefined || before === now) return;
  const gone: string[] = [];
  const added: [string, string][] = [];
  for (const key of changedKeys(before ?? new Map(), to)) {
    const [old, value] = [before?.get(key), now.get(key)];
    if (old === value) continue;
    if (old !== undefined) gone.push(key);
    if (value !== undefined) added.push([key, value]);
  }
  script.deleteElements(name, gone);
  script.addElements(name, added);
}

/** All keys of both if it is not known which changed. */
function changedKeys(before: ReadonlyMap<string, string>, { elements = new Map(), changes }: NftSet): Iterable<string> {
  return changes?.since.deref() === before ? changes.keys : new Set([...before.keys(), ...elements.keys()]);
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((rule, index) => rule === b[index]);
}

class Script {
  /** "ip k8ts-a1-proxy" */
  readonly table: string;
  readonly #lines: string[] = [];
  #written = 0;

  constructor({ family, name }: Pick<NftTable, "family" | "name">) {
    this.table = `${family} ${name}`;
  }

  add(...lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  delete(line: string): void {
    this.#lines.push(line);
    this.#written++;
  }

  addSet(name: string, { kind, declaration }: NftSet): void {
    this.add(`add ${kind} ${this.table} ${name} { ${declaration} }`);
  }

  addRules(chain: string, rules: readonly string[]): void {
    for (const rule of rules) this.#lines.push(`add rule ${this.table} ${chain} ${rule}`);
    this.#written += rules.length;
  }

  addElements(name: string, elements: readonly (readonly [key: string, value: string])[]): void {
    this.#elements(
      "add",
      name,
      elements.map(([key, value]) => (value === "" ? key : `${key} : ${value}`)),
    );
  }

  deleteElements(name: string, keys: readonly string[]): void {
    this.#elements("delete", name, keys);
  }

  done(): NftScript {
    return { text: this.#lines.map((line) => `${line}\n`).join(""), written: this.#written };
  }

  #elements(verb: "add" | "delete", name: string, elements: readonly string[]): void {
    for (let start = 0; start < elements.length; start += ELEMENTS_PER_COMMAND)
      this.#lines.push(`${verb} element ${this.table} ${name} { ${elements.slice(start, start + ELEMENTS_PER_COMMAND).join(", ")} }`);
    this.#written += elements.length;
  }
}
