import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { changeScript, replaceScript } from "./nft-script.ts";
import type { NftSet, NftTable } from "./nft-table.ts";
import { hasAll, parseNames } from "./nft-writer.ts";

const LAYOUT = "layout-1";
const FORWARD = { declaration: "type filter hook forward priority filter; policy accept;" };

function aTable(chains: Readonly<Record<string, readonly string[]>>, sets: Readonly<Record<string, NftSet>> = {}): NftTable {
  return {
    ...({ family: "inet", name: "t", layout: LAYOUT } as const),
    baseChains: new Map([["forward", FORWARD]]),
    chains: new Map(Object.entries({ [LAYOUT]: [], forward: ["ip daddr vmap @verdicts", `jump ${LAYOUT}`], ...chains })),
    sets: new Map(Object.entries(sets)),
  };
}

function aMap(elements: Readonly<Record<string, string>>): NftSet {
  return { kind: "map", declaration: "type ipv4_addr : verdict;", elements: new Map(Object.entries(elements)) };
}

const CLIENTS: NftSet = { kind: "set", declaration: "type ipv4_addr; flags dynamic,timeout; timeout 10s;" };

function lines({ text }: { readonly text: string }): readonly string[] {
  return text.split("\n").slice(0, -1);
}

test("a table that does not exist is created, sets before the rules that use them", () => {
  const script = replaceScript(aTable({ one: ["drop"] }, { verdicts: aMap({ "10.0.0.1": "goto one" }) }), undefined);
  deepEqual(lines(script), [
    "add table inet t",
    "add map inet t verdicts { type ipv4_addr : verdict; }",
    `add chain inet t forward { ${FORWARD.declaration} }`,
    "add chain inet t layout-1",
    "add chain inet t forward",
    "add chain inet t one",
    "add rule inet t forward ip daddr vmap @verdicts",
    "add rule inet t forward jump layout-1",
    "add rule inet t one drop",
    "add element inet t verdicts { 10.0.0.1 : goto one }",
  ]);
  equal(script.written, 4);
});

test("a table of another layout is deleted and created in one transaction", () => {
  const script = replaceScript(aTable({}), { chains: ["forward", "layout-0"], sets: [] });
  deepEqual(lines(script).slice(0, 3), ["add table inet t", "delete table inet t", "add table inet t"]);
});

test("adopting a table empties it, deletes what is stale, and keeps the content of sets that packets fill", () => {
  const existing = {
    chains: ["forward", LAYOUT, "stale"],
    sets: [
      { kind: "map", name: "verdicts" },
      { kind: "set", name: "clients" },
      { kind: "set", name: "old-clients" },
    ],
  } as const;
  const script = replaceScript(aTable({}, { verdicts: aMap({}), clients: CLIENTS }), existing);
  deepEqual(lines(script).slice(0, 6), [
    "add table inet t",
    "flush table inet t",
    "flush map inet t verdicts",
    "flush set inet t old-clients",
    "delete chain inet t stale",
    "delete set inet t old-clients",
  ]);
});

test("a change writes only new, changed and removed objects, and deletes chains after the elements that refer to them", () => {
  const kept = ["accept"];
  const from = aTable(
    { kept, changed: ["drop"], removed: ["drop"] },
    { verdicts: aMap({ a: "goto kept", b: "goto removed" }), old: aMap({}) },
  );
  const to = aTable(
    { kept, changed: ["accept"], added: ["reject"] },
    { verdicts: aMap({ a: "goto added", c: "goto kept" }), clients: CLIENTS },
  );
  const script = changeScript(from, to);
  deepEqual(lines(script), [
    "add set inet t clients { type ipv4_addr; flags dynamic,timeout; timeout 10s; }",
    "add chain inet t added",
    "flush chain inet t changed",
    "add rule inet t changed accept",
    "add rule inet t added reject",
    "delete element inet t verdicts { a, b }",
    "add element inet t verdicts { a : goto added, c : goto kept }",
    "flush map inet t old",
    "flush chain inet t removed",
    "delete chain inet t removed",
    "delete map inet t old",
  ]);
  equal(script.written, 8);
});

test("equal tables give an empty script", () => {
  const table = (): NftTable => aTable({ one: ["drop"] }, { verdicts: aMap({ a: "goto one" }), clients: CLIENTS });
  deepEqual(changeScript(table(), table()), { text: "", written: 0 });
});

test("many elements are split into several commands", () => {
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, index) => [`10.0.${index >> 8}.${index & 255}`, "drop"]));
  const script = changeScript(aTable({}, { verdicts: aMap({}) }), aTable({}, { verdicts: aMap(many) }));
  equal(lines(script).length, 3);
  equal(script.written, 1_200);
});

test("names of chains, sets and maps of one table are read from the outputs of nft -j", () => {
  const output = (...entries: readonly object[]): string => JSON.stringify({ nftables: [{ metainfo: { version: "1.0.6" } }, ...entries] });
  const outputs = [
    output({ chain: { table: "t", name: "forward", hook: "forward" } }, { chain: { table: "foreign", name: "input" } }),
    output({ set: { table: "t", name: "clients" } }),
    output({ map: { table: "t", name: "verdicts" } }, { map: { table: "foreign", name: "verdicts" } }),
  ];
  deepEqual(parseNames(outputs, "t"), {
    chains: ["forward"],
    sets: [
      { kind: "set", name: "clients" },
      { kind: "map", name: "verdicts" },
    ],
  });
  deepEqual(parseNames(outputs, "other"), { chains: [], sets: [] });
});

test("a listed table has everything if no rule, element, chain or set is missing; packets may fill a set", () => {
  const table = aTable({ one: ["drop"] }, { verdicts: aMap({ "10.0.0.1": "goto one" }), clients: CLIENTS });
  const rule = (chain: string) => ({ rule: { chain } });
  const whole = [
    { chain: { name: LAYOUT } },
    ...["forward", "forward", "one"].map(rule),
    { map: { name: "verdicts", elem: [["10.0.0.1", { goto: { target: "one" } }]] } },
    { set: { name: "clients", elem: ["10.0.0.7"] } },
  ];
  const isWhole = (nftables: readonly unknown[]) => hasAll(table, JSON.stringify({ nftables: [{ metainfo: {} }, ...nftables] }));

  equal(isWhole(whole), true);
  for (const index of whole.keys()) equal(isWhole(whole.toSpliced(index, 1)), false, `Without ${JSON.stringify(whole[index])}`);
  equal(isWhole([...whole, { map: { name: "verdicts" } }]), false);
});
