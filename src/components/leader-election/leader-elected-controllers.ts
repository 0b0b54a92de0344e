/** The controllers of a cluster as one of several processes that could run them (leader-elected-component.ts). */
import { KUBE_CONTROLLER_MANAGER } from "../../api/identities.ts";
import type { RunningControllers } from "../../controllers/runtime/run-controllers.ts";
import { startControllersPart, type ControllersPartOptions } from "../controllers.ts";
import { startLeaderElectedComponent, type LedOptions, type LeaderElectedComponent } from "./leader-elected-component.ts";

/** Where upstream's controller managers, too, find out who leads. */
export const CONTROLLER_MANAGER_LEASE = { namespace: "kube-system", name: "kube-controller-manager" };

export interface LeaderElectedControllersOptions extends LedOptions, Pick<ControllersPartOptions, "controllers" | "settings"> {}

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
