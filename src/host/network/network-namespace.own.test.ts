import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CommandError, ownNetworkNamespace } from "./network-namespace.ts";

describe("network namespace", () => {
  it("passes input to a command and resolves with its output", async () => {
    assert.equal(await ownNetworkNamespace.run("cat", [], "one\ntwo\n"), "one\ntwo\n");
  });

  it("rejects with the command's messages and exit code", async () => {
    await assert.rejects(ownNetworkNamespace.run("sh", ["-c", "echo wrong >&2; exit 3"]), (error) => {
      assert.ok(error instanceof CommandError);
      assert.equal(error.exitCode, 3);
      assert.match(error.message, /exited with code 3: wrong$/);
      return true;
    });
  });

  it("reports a missing program as such", async () => {
    await assert.rejects(ownNetworkNamespace.run("no-such-program-of-k8ts", []), (error) => {
      assert.ok(error instanceof CommandError && error.isMissing);
      return true;
    });
  });

  it("does not fail if a command exits without reading its input", async () => {
    assert.equal(await ownNetworkNamespace.run("true", [], "x".repeat(1_000_000)), "");
  });
});
