import { equal } from "node:assert/strict";
import { test } from "node:test";
import { array, assert as property, nat, property as forAll } from "fast-check";
import { slabAllocator } from "./byte-slab.ts";

test("slices have their length and never overlap", () => {
  property(
    forAll(array(nat(70_000), { maxLength: 30 }), (sizes) => {
      const allocate = slabAllocator();
      const pieces = sizes.map((size) => allocate(size));
      for (const [index, piece] of pieces.entries()) piece.fill(index);
      for (const [index, piece] of pieces.entries()) {
        equal(piece.length, sizes[index]);
        equal(
          piece.every((byte) => byte === index),
          true,
        );
      }
    }),
  );
});
