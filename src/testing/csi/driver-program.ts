/**
 * The CSI driver for tests as a program, on the node or in a container. Serves and registers like a driver with its node-driver-registrar,
 * until it receives SIGTERM; a restarted one continues with the same volumes. Flags:
 *
 *     --directory   of its volumes and of what it did
 *     --registry    the kubelet's plugins_registry
 *     --node        the id of the node
 *     --socket      where it serves; default: csi.sock in its directory
 *     --endpoint    how the kubelet finds that socket; default: the same path
 *     --faults      directory of files with faults (driver-faults.ts)
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { realClock } from "../../host/real-clock.ts";
import { startRegistrationSocket } from "../../kubelet/plugin-registration/testing/registration-socket.ts";
import { CsiTestDriver } from "./csi-test-driver.ts";
import { TEST_DRIVER } from "./driver-pods.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { directory: text, registry: text, node: text, socket: text, endpoint: text, faults: text } });
const { directory, registry, node: nodeId } = values;
if (directory === undefined || registry === undefined || nodeId === undefined) {
  throw new Error("Cannot start the driver: --directory, --registry and --node are needed");
}
const { socket = join(directory, "csi.sock") } = values;
const { endpoint = socket } = values;
for (const needed of [directory, registry]) await mkdir(needed, { recursive: true });
const registration = join(registry, `${TEST_DRIVER}-reg.sock`);
await rm(registration, { force: true });
await using driver = await CsiTestDriver.start({
  ...{ directory, socket, name: TEST_DRIVER, nodeId, fileSystem: "ext4", faultsDirectory: values.faults },
  topology: { "test.csi.k8ts.dev/node": nodeId },
});
const info = { type: "CSIPlugin", name: TEST_DRIVER, endpoint, supportedVersions: ["1.0.0"] };
await using _registration = await startRegistrationSocket({ socket: registration, info, clock: realClock });
process.stdout.write(`${TEST_DRIVER} serves at ${endpoint}\n`);
await new Promise((resolve) => process.once("SIGTERM", resolve));
process.stdout.write(`calls: ${driver.calls.join(" ")}\n`);
