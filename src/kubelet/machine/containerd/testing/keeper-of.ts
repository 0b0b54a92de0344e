/** A ContainerdKeeper for a test's containerd, as `k8ts up` runs one. */
import { silentLogger } from "../../../../base/logger.ts";
import type { TestContainerd } from "../../../../testing/servers/containerd-server.ts";
import { PAUSE_IMAGE } from "../../images/pause-image-name.ts";
import { ContainerdKeeper } from "../containerd-keeper.ts";

export function keeperOf(containerd: TestContainerd, report: (line: string) => void): ContainerdKeeper {
  const stop = () => containerd.stop();
  return new ContainerdKeeper({
    ...containerd.places,
    ...{ sandboxImage: PAUSE_IMAGE, environment: process.env, log: silentLogger, stop, report },
  });
}
