/**
 * Opens the requested proxy mode, or the next one that this machine can run: iptables, nftables, then userspace, which needs neither
 * kernel support nor root. Every mode that cannot be used is reported with its reason.
 */
import type { Logger } from "../../base/logger.ts";
import { UnsupportedModeError, type Applier, type ApplierContext, type ProxyMode } from "../appliers/applier.ts";

/** Tried in this order after the requested mode. */
const FALLBACKS = ["iptables", "nftables", "userspace"];

export const DEFAULT_MODE = "iptables";

export interface ChosenMode {
  readonly mode: ProxyMode;
  readonly applier: Applier;
}

export interface ModeChoice {
  readonly modes: readonly ProxyMode[];
  readonly requested: string;
  warn(message: string): void;
}

export async function openMode({ modes, requested, warn }: ModeChoice, context: ApplierContext): Promise<ChosenMode> {
  const names = [requested, ...FALLBACKS.filter((name) => name !== requested)];
  const candidates = names.flatMap((name) => modes.find((mode) => mode.name === name) ?? []);
  if (candidates[0]?.name !== requested)
    throw new Error(`Cannot start the proxy in mode "${requested}": it must be one of ${modes.map(({ name }) => name).join(", ")}`);
  const reasons: string[] = [];
  for (const [index, mode] of candidates.entries()) {
    try {
      return { mode, applier: await mode.open(context) };
    } catch (error) {
      if (!(error instanceof UnsupportedModeError)) throw error;
      reasons.push(error.message);
      const next = candidates[index + 1]?.name;
      if (next !== undefined) warn(`proxy mode ${mode.name} cannot be used, trying ${next}: ${error.message}`);
    }
  }
  throw new Error(`Cannot start the proxy, no mode works on this machine: ${reasons.join("; ")}`);
}

/** Removes what other modes left: the node runs one at a time. A failure leaves rules that another start removes. */
export async function cleanUpOtherModes(
  { modes, current, log }: { readonly modes: readonly ProxyMode[]; readonly current: string; readonly log: Logger },
  context: Pick<ApplierContext, "owner" | "namespace" | "log">,
): Promise<void> {
  for (const mode of modes) {
    if (mode.name === current) continue;
    await mode
      .cleanUp(context)
      .catch((error: unknown) => log.warn("Removing the state of another proxy mode failed", { mode: mode.name, error }));
  }
}
