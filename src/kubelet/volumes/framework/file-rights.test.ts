import assert from "node:assert/strict";
import { test } from "node:test";
import { modeForGroup } from "./file-rights.ts";

test("fsGroup may read read-only volumes and write others, and directories get the setgid bit", () => {
  const modes = [true, false].flatMap((isReadOnly) =>
    [true, false].map((isDirectory) => modeForGroup(isDirectory ? 0o755 : 0o600, { isDirectory, isReadOnly }).toString(8)),
  );
  assert.deepEqual(modes, ["2755", "640", "2775", "660"]);
});
