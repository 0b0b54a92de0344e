import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { array, assert, integer, nat, property, tuple } from "fast-check";
import { PageSet } from "./page-set.ts";

const SIZE = 100;

/** Runs of pages, some of which reach beyond the size of the set. */
const runs = array(tuple(nat(SIZE + 10), integer({ min: 1, max: 20 })), { maxLength: 12 });

function pagesOf(run: readonly [number, number]): number[] {
  return Array.from({ length: run[1] }, (_, index) => run[0] + index).filter((number) => number < SIZE);
}

function setOf(added: readonly (readonly [number, number])[]): PageSet {
  const set = new PageSet(SIZE);
  for (const [first, count] of added) set.add(first, count);
  return set;
}

test("add returns the first page that was already in the set", () =>
  assert(
    property(runs, (added) => {
      const set = new PageSet(SIZE);
      const model = new Set<number>();
      for (const run of added) {
        equal(
          set.add(...run),
          pagesOf(run).find((number) => model.has(number)),
        );
        for (const number of pagesOf(run)) model.add(number);
      }
    }),
  ));

test("the first common page of two sets is found", () =>
  assert(
    property(runs, runs, (some, others) => {
      const inOthers = new Set(others.flatMap(pagesOf));
      const common = some.flatMap(pagesOf).filter((number) => inOthers.has(number));
      deepEqual(setOf(some).firstIn(setOf(others)), common.length === 0 ? undefined : Math.min(...common));
    }),
  ));
