/** AppArmor profiles as annotations had them before there were fields. */
import type { AppArmorProfile } from "../../../generated/core/v1.ts";

const LOCALHOST_PREFIX = "localhost/";

/** Undefined if the text names none. */
export function appArmorProfileOf(text: string): AppArmorProfile | undefined {
  if (text === "unconfined") return { type: "Unconfined" };
  if (text === "runtime/default") return { type: "RuntimeDefault" };
  if (!text.startsWith(LOCALHOST_PREFIX) || text === LOCALHOST_PREFIX) return undefined;
  return { type: "Localhost", localhostProfile: text.slice(LOCALHOST_PREFIX.length) };
}
