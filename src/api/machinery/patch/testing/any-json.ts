/** Random JSON for the tests of patches; member names include those that are dangerous in JavaScript. */
import fc from "fast-check";
import type { Json, JsonObject } from "../../object.ts";

/** Few names, so that two values have some in common. */
const name = fc.constantFrom("a", "b", "c", "__proto__", "constructor");

const tied = fc.letrec<{ value: Json; list: Json[]; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1, "x", "y", 2n ** 60n),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("value"), { maxLength: 4 }),
  // As JSON.parse makes it: `__proto__` becomes a member.
  object: fc.array(fc.tuple(name, tie("value")), { maxLength: 4 }).map((members) => Object.fromEntries(members) as JsonObject),
}));

export const anyJson: fc.Arbitrary<Json> = tied.value;
export const anyJsonObject: fc.Arbitrary<JsonObject> = tied.object;
