/** Flags of the controllers of service account tokens in Secrets, with upstream's names. */
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { fileCheck, type FileCheck } from "../cli/framework/check-files.ts";
import type { ServiceAccountTokenSettings } from "../controllers/service-account-token/service-account-token-controller.ts";
import { keyIdOf } from "../host/crypto/keys.ts";
import { readSigningKey } from "./certificate-files.ts";

const KEY_FLAG = "--service-account-private-key-file";

export const serviceAccountTokenFlags = {
  "service-account-private-key-file": {
    type: "string",
    placeholder: "FILE",
    doc: "Private key (PEM) that signs the tokens of Secrets of type kubernetes.io/service-account-token. Default: such Secrets get none.",
  },
} as const satisfies FlagSet;

type Values = FlagValues<typeof serviceAccountTokenFlags>;

export function serviceAccountTokenFileChecks(values: Values): readonly FileCheck[] {
  return fileCheck(values["service-account-private-key-file"], (path) => readSigningKey(path, KEY_FLAG));
}

/** Rejects with a message for the user. */
export async function readServiceAccountTokenSettings(values: Values): Promise<Pick<ServiceAccountTokenSettings, "tokenSigner">> {
  const file = values["service-account-private-key-file"];
  if (file === undefined) return {};
  const signer = await readSigningKey(file, KEY_FLAG);
  return { tokenSigner: { signer, keyId: keyIdOf(signer.publicKey) } };
}
