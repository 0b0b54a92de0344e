/**
 * What is said of the built-in types to people. The text is large and rarely needed, so it is given: whoever writes OpenAPI documents
 * loads generated/descriptions.ts when the first of them is asked for.
 */

/** The form of the generated text: tools/generate/descriptions.ts writes it. */
export interface DescriptionData {
  /** Of every type that has the two. */
  readonly apiVersion: string;
  readonly kind: string;
  /** By OpenAPI name. */
  readonly types: Readonly<Record<string, TypeDescription>>;
}

export interface TypeDescription {
  readonly description: string;
  /** By field; absent for apiVersion and kind, and for a field of which nothing is said. */
  readonly fields: Readonly<Record<string, string>>;
  /** Lists of which upstream does not say how they merge: they are atomic, and documents leave it out. */
  readonly undeclaredLists?: readonly string[];
  /** One of the members is given, and the field `discriminator` (if there is one) says which: x-kubernetes-unions. */
  readonly union?: { readonly discriminator?: string; readonly members: readonly string[] };
}

export interface Descriptions {
  ofType(name: string): TypeDescription | undefined;
  /** "" if nothing is said of it. */
  ofField(typeName: string, field: string): string;
}

export function parseDescriptions(descriptionData: string): Descriptions {
  const data = JSON.parse(descriptionData) as DescriptionData;
  const types = new Map(Object.entries(data.types));
  return {
    ofType: (name) => types.get(name),

    ofField(typeName, field) {
      const own = types.get(typeName)?.fields;
      if (own !== undefined && Object.hasOwn(own, field)) return own[field] ?? "";
      return field === "apiVersion" || field === "kind" ? data[field] : "";
    },
  };
}
