import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { numbersOf } from "./proto-source.ts";

test("messages and the numbers of their fields are read, comments are ignored", () => {
  const text = `package p;

// optional string no = 9;
message Pod {
  // The name = 7 of it.
  optional string name = 1;

  repeated .p.Part parts = 2;

  map<string, .p.Part> byName = 15;
}

message Empty {
}
`;

  deepEqual(
    numbersOf(text),
    new Map([
      ["Pod", 0],
      ["Pod.name", 1],
      ["Pod.parts", 2],
      ["Pod.byName", 15],
      ["Empty", 0],
    ]),
  );
});
