import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

test("/version reports the API version with a build suffix", async () => {
  await using started = await startServer();

  const { code, headers, body } = await started.call("GET", "/version");

  equal(code, 200);
  equal(headers["content-type"], "application/json");
  deepEqual([body.major, body.minor, body.emulationMinor, body.minCompatibilityMinor], ["1", "36", "36", "35"]);
  match(body.gitVersion, /^v1\.36\.\d+\+[a-z0-9]+$/);
});

test("/version is read-only and JSON only", async () => {
  await using started = await startServer();

  equal((await started.call("GET", "/version", undefined, { accept: "text/plain" })).code, 406);
  equal((await started.call("GET", "/version/")).code, 200);
  equal((await started.call("POST", "/version")).code, 405);
});
