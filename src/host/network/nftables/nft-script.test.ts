import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { changeScript, replaceScript } from "./nft-script.ts";
import type { NftSet, NftTable } from "./nft-table.ts";
import { parseTable } from "./nft-writer.ts";

const LAYOUT = "layout-1";
const FORWARD = { declaration: "type filter hook forward priority filter; policy accept;" };

function aTable(chains: Readonly<Record<string, readonly string[]>>, sets: Readonly<Record<string, NftSet>> = {}): NftTable {
  return {
    ...({ family: "inet", name: "t" } as const),
    baseChains: new Map([["forward", FORWARD]]),
    chains: new Map(Object.entries({ forward: ["ip daddr vmap @verdicts"], ...chains })),
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
  const script = replaceScript(aTable({ one: ["drop"] }, { verdicts: aMap({ "10.0.0.1": "goto one" }) }), undefined, LAYOUT);
  deepEqual(lines(script), [
    "add table inet t",
    "add chain inet t layout-1",
    "add map inet t verdicts { type ipv4_addr : verdict; }",
    `add chain inet t forward { ${FORWARD.declaration} }`,
    "add chain inet t forward",
    "add chain inet t one",
    "add rule inet t forward ip daddr vmap @verdicts",
    "add rule inet t one drop",
    "add element inet t verdicts { 10.0.0.1 : goto one }",
  ]);
  equal(script.written, 3);
});

test("a table of another layout is deleted and created in one transaction", () => {
  const script = replaceScript(aTable({}), { chains: ["forward", "layout-0"], sets: [] }, LAYOUT);
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
  const script = replaceScript(aTable({}, { verdicts: aMap({}), clients: CLIENTS }), existing, LAYOUT);
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

test("names of chains, sets and maps are read from the output of nft -j", () => {
  const json = JSON.stringify({
    nftables: [
      { metainfo: { version: "1.0.6" } },
      { table: { family: "inet", name: "t" } },
      { map: { name: "verdicts" } },
      { set: { name: "clients" } },
      { chain: { name: "forward", hook: "forward" } },
      { rule: { chain: "forward", expr: [] } },
    ],
  });
  deepEqual(parseTable(json), {
    chains: ["forward"],
    sets: [
      { kind: "set", name: "clients" },
      { kind: "map", name: "verdicts" },
    ],
  });
});
