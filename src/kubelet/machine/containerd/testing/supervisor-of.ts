/** A ContainerdKeeper for a test's containerd, as `k8ts up` runs one. */
import { silentLogger } from "../../../../base/logger.ts";
import type { TestContainerd } from "../../../../testing/servers/containerd-server.ts";
import { PAUSE_IMAGE } from "../../images/pause-image-name.ts";
import { ContainerdSupervisor } from "../containerd-supervisor.ts";

export function supervisorOf(containerd: TestContainerd, report: (line: string) => void): ContainerdSupervisor {
  const stop = () => containerd.stop();
  return new ContainerdSupervisor({
    ...containerd.places,
    ...{ sandboxImage: PAUSE_IMAGE, environment: process.env, log: silentLogger, stop, report },
  });
}
