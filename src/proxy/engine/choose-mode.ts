/**
 * Opens the requested proxy mode, or the next one that this machine can run: iptables, nftables, then userspace, which needs neither
 * kernel support nor root. Every mode that cannot be used is reported with its reason.
 */
import { UnsupportedModeError, type Applier, type ApplierContext, type ProxyMode } from "../appliers/applier.ts";

/** Tried in this order after the requested mode. */
const FALLBACKS = ["iptables", "nftables", "userspace"];

export const DEFAULT_MODE = "iptables";

export interface ChosenMode {
  readonly mode: ProxyMode;
  readonly applier: Applier;
  /** Names of modes that this machine cannot run. */
  readonly unsupported: readonly string[];
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
  const unsupported: string[] = [];
  for (const [index, mode] of candidates.entries()) {
    try {
      return { mode, applier: await mode.open(context), unsupported };
    } catch (error) {
      if (!(error instanceof UnsupportedModeError)) throw error;
      reasons.push(error.message);
      unsupported.push(mode.name);
      const next = candidates[index + 1]?.name;
      if (next !== undefined) warn(`proxy mode ${mode.name} cannot be used, trying ${next}: ${error.message}`);
    }
  }
  throw new Error(`Cannot start the proxy, no mode works on this machine: ${reasons.join("; ")}`);
}

/**
 * Removes what other modes left: the node runs one at a time. Modes that this machine cannot run cannot remove anything either. A failure
 * leaves rules that another start removes.
 */
export async function cleanUpOtherModes(
  modes: readonly ProxyMode[],
  { mode: current, unsupported }: ChosenMode,
  context: Pick<ApplierContext, "owner" | "namespace" | "log">,
): Promise<void> {
  for (const mode of modes) {
    if (mode.name === current.name || unsupported.includes(mode.name)) continue;
    await mode
      .cleanUp(context)
      .catch((error: unknown) => context.log.warn("Removing the state of another proxy mode failed", { mode: mode.name, error }));
  }
}
