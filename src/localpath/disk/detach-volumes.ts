/** Leaves nothing of a node's volumes in the kernel when the node stops. Their content stays. */
import { realPathOf } from "../../host/files/shared-directory.ts";
import { detachLoopDevice, isLoopDeviceMounted, loopDevicesUnder } from "../../host/kernel/loop-devices.ts";

/** Detaches the loop devices of images below a directory; the next start attaches them again. A mounted one stays. Resolves with those. */
export async function detachVolumes(directory: string): Promise<readonly string[]> {
  const path = await realPathOf(directory).catch(() => undefined);
  const detached: string[] = [];
  for (const { device } of path === undefined ? [] : await loopDevicesUnder(path)) {
    if (await isLoopDeviceMounted(device)) continue;
    await detachLoopDevice(device);
    detached.push(device);
  }
  return detached;
}
