/** AppArmor profiles in the legacy annotation format. */
import type { AppArmorProfile } from "../../../generated/core/v1.ts";

const LOCALHOST_PREFIX = "localhost/";

/** Undefined if the text is no profile. */
export function appArmorProfileOf(text: string): AppArmorProfile | undefined {
  if (text === "unconfined") return { type: "Unconfined" };
  if (text === "runtime/default") return { type: "RuntimeDefault" };
  if (!text.startsWith(LOCALHOST_PREFIX) || text === LOCALHOST_PREFIX) return undefined;
  return { type: "Localhost", localhostProfile: text.slice(LOCALHOST_PREFIX.length) };
}
