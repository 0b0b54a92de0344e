/**
 * The CSI driver for tests as a program: `node driver-program.js <directory> <kubelet's root directory> <node id>`. Serves and registers like
 * a driver with its node-driver-registrar, until it receives SIGTERM; a restarted one continues with the same volumes.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { realClock } from "../../host/real-clock.ts";
import { startRegistrationSocket } from "../../kubelet/plugin-registration/testing/registration-socket.ts";
import { CsiTestDriver } from "./csi-test-driver.ts";

export const TEST_DRIVER = "test.csi.k8ts.dev";

const [directory, kubeletDirectory, nodeId] = process.argv.slice(2);
if (directory === undefined || kubeletDirectory === undefined || nodeId === undefined) {
  throw new Error("Cannot start the driver: the arguments are its directory, the kubelet's root directory and the node's id");
}
const registry = join(kubeletDirectory, "plugins_registry");
for (const needed of [directory, registry]) await mkdir(needed, { recursive: true });
const endpoint = join(directory, "csi.sock");
const socket = join(registry, `${TEST_DRIVER}-reg.sock`);
await rm(socket, { force: true });
await using driver = await CsiTestDriver.start({
  ...{ directory, socket: endpoint, name: TEST_DRIVER, nodeId },
  topology: { "test.csi.k8ts.dev/node": nodeId },
});
const info = { type: "CSIPlugin", name: TEST_DRIVER, endpoint, supportedVersions: ["1.0.0"] };
await using _registration = await startRegistrationSocket({ socket, info, clock: realClock });
process.stdout.write(`${TEST_DRIVER} serves at ${endpoint}\n`);
await new Promise((resolve) => process.once("SIGTERM", resolve));
process.stdout.write(`calls: ${driver.calls.join(" ")}\n`);
