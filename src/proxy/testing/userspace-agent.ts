/**
 * A process inside a network namespace that runs the userspace proxy as its parent commands by IPC: sockets are in the namespace of their
 * process. Exits with its parent. Not here: its handle (userspace-in-namespace.ts).
 */
import { createLogger } from "../../base/logger.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Applier, ApplierContext } from "../appliers/applier.ts";
import { userspace } from "../appliers/userspace/userspace.ts";
import type { ProxyModel } from "../model.ts";

export type UserspaceCommand =
  | { readonly do: "open"; readonly context: Pick<ApplierContext, "owner" | "podBridge" | "options"> }
  | { readonly do: "apply"; readonly model: ProxyModel }
  | { readonly do: "isIntact" };

let applier: Applier | undefined;

async function execute(command: UserspaceCommand): Promise<unknown> {
  if (command.do === "open") {
    const log = createLogger({ sink: () => {}, clock: realClock, level: "error" });
    applier = await userspace.open({ ...command.context, namespace: ownNetworkNamespace, clock: realClock, log });
    return undefined;
  }
  return command.do === "apply" ? applier?.apply(command.model) : applier?.isIntact("thorough");
}

process.on("message", ({ id, command }: { readonly id: number; readonly command: UserspaceCommand }) => {
  execute(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
