/** The sandbox (pause) image, built on the spot: no registry is needed. */
import { PAUSE_IMAGE } from "./pause-image-name.ts";
import { buildImage } from "./oci-image.ts";
import { pauseProgram, type PauseArchitecture } from "./pause-program.ts";

/** Architectures that have a pause program. */
const ARCHITECTURES: readonly string[] = ["amd64", "arm64"] satisfies readonly PauseArchitecture[];

function isKnown(architecture: string): architecture is PauseArchitecture {
  return ARCHITECTURES.includes(architecture);
}

/** `name`: if it differs from its own. `architecture`: this machine's, as OCI names it. */
export function pauseImage({ architecture, name = PAUSE_IMAGE }: { readonly architecture: string; readonly name?: string }): Uint8Array {
  if (!isKnown(architecture)) {
    throw new Error(
      `Cannot make the image ${name}: there is a program for ${ARCHITECTURES.join(" and ")}, this machine is ${architecture}`,
    );
  }
  return buildImage({
    name,
    architecture,
    layers: [[{ is: "file", path: "pause", content: pauseProgram(architecture), mode: 0o755 }]],
    config: { Entrypoint: ["/pause"], User: "65535:65535", WorkingDir: "/" },
  });
}
