import assert from "node:assert/strict";
import { stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "../../testing/needs.ts";
import { makeTemporaryDirectory } from "../files/private-files.ts";
import { runProgram } from "../processes/child-process.ts";
import {
  attachLoopDevice,
  detachLoopDevice,
  findLoopDevice,
  isLoopDeviceMounted,
  loopDevicesUnder,
  resizeLoopDevice,
} from "./loop-devices.ts";

const MEBIBYTE = 1 << 20;

test("a file is attached to one loop device, which follows its size, until it is detached", { ...needs("loop") }, async () => {
  await using directory = await makeTemporaryDirectory("k8ts-loop-");
  const file = join(directory.path, "image");
  await writeFile(file, "");
  await truncate(file, MEBIBYTE);
  assert.equal(await findLoopDevice(file), undefined);

  const device = await attachLoopDevice(file);
  try {
    assert((await stat(device)).isBlockDevice());
    assert.equal(await attachLoopDevice(file), device);
    assert.deepEqual(await loopDevicesUnder(directory.path), [{ device, file }]);
    assert.equal(await isLoopDeviceMounted(device), false);
    await truncate(file, 2 * MEBIBYTE);
    await resizeLoopDevice(device);
    assert.deepEqual(await runProgram({ command: "blockdev", arguments: ["--getsize64", device] }), [String(2 * MEBIBYTE)]);
  } finally {
    await detachLoopDevice(device);
  }
  assert.deepEqual(await loopDevicesUnder(directory.path), []);
});
