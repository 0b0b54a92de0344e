/** The controllers as a leader-elected component (leader-elected-component.ts). */
import { KUBE_CONTROLLER_MANAGER } from "../../api/identities.ts";
import type { RunningControllers } from "../../controllers/runtime/run-controllers.ts";
import { startControllersPart, type ControllersPartOptions } from "../controllers.ts";
import { startLeaderElectedComponent, type LeaderElectedOptions, type LeaderElectedComponent } from "./leader-elected-component.ts";

/** Upstream's Lease of the controller manager. */
export const CONTROLLER_MANAGER_LEASE = { namespace: "kube-system", name: "kube-controller-manager" };

export interface LeaderElectedControllersOptions extends LeaderElectedOptions, Pick<ControllersPartOptions, "controllers" | "settings"> {}

export type LeaderElectedControllers = LeaderElectedComponent<RunningControllers>;

export function startLeaderElectedControllers(options: LeaderElectedControllersOptions): LeaderElectedControllers {
  return startLeaderElectedComponent({
    ...options,
    identity: KUBE_CONTROLLER_MANAGER,
    async start(transportFor, signal) {
      const part = await startControllersPart({ ...options, transportFor, signal });
      options.log.info("Started controllers", { controllers: part.names });
      return part;
    },
  });
}
