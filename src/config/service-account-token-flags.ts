/** Flags of the controllers of service account tokens in Secrets, with upstream's names. */
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { fileCheck, type FileCheck } from "../cli/framework/check-files.ts";
import type { ControllerSettings } from "../controllers/all.ts";
import { LEGACY_TOKEN_CLEANER_DEFAULTS } from "../controllers/legacy-service-account-token-cleaner/legacy-service-account-token-cleaner-controller.ts";
import { keyIdOf } from "../host/crypto/keys.ts";
import { readSigningKey } from "./certificate-files.ts";
import { durationExpected, durationMs } from "./connection-flags.ts";

const KEY_FLAG = "--service-account-private-key-file";

export const serviceAccountTokenFlags = {
  "service-account-private-key-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Private key (PEM) that signs the tokens of Secrets of type kubernetes.io/service-account-token. Default: such Secrets get none.",
  },
  "legacy-service-account-token-clean-up-period": {
    type: "string",
    placeholder: "DURATION",
    default: `${LEGACY_TOKEN_CLEANER_DEFAULTS.cleanUpPeriodMs / 3_600_000}h`,
    doc: "Time without use after which a generated token Secret is marked as invalid, and then deleted.",
    expects: durationExpected,
  },
} as const satisfies FlagSet;

type Values = FlagValues<typeof serviceAccountTokenFlags>;

export function serviceAccountTokenFileChecks(values: Values): readonly FileCheck[] {
  return fileCheck(values["service-account-private-key-file"], (path) => readSigningKey(path, KEY_FLAG));
}

/** Rejects with a message for the user. */
export async function readServiceAccountTokenSettings(
  values: Values,
): Promise<Pick<ControllerSettings, "tokenSigner" | "legacyTokenCleaner">> {
  const legacyTokenCleaner = { cleanUpPeriodMs: durationMs(values["legacy-service-account-token-clean-up-period"]) };
  const file = values["service-account-private-key-file"];
  if (file === undefined) return { legacyTokenCleaner };
  const signer = await readSigningKey(file, KEY_FLAG);
  return { legacyTokenCleaner, tokenSigner: { signer, keyId: keyIdOf(signer.publicKey) } };
}
