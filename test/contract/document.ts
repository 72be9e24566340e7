import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

type OperationObject = {
  requestBody?: { content: Record<string, { schema: { properties: Record<string, { enum?: unknown[] }> } }> };
  responses: Record<string, unknown>;
};

export type OpenApiDocument = {
  openapi: string;
  info: { title: string; version: string };
  servers: Array<{ url: string }>;
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, unknown> };
};

const documentId = 'openapi.json';

/** The OpenAPI document that an implementation serves, and what an answer must be to agree with it. */
export class ServedDocument {
  readonly document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  private constructor(document: OpenApiDocument) {
    this.document = document;
    // The package is CommonJS: its function is both the module and its default export.
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, documentId);
  }

  static async fetch(url: string): Promise<ServedDocument> {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`there is no OpenAPI document at ${url}: ${response.status}`);
    return new ServedDocument((await response.json()) as OpenApiDocument);
  }

  /** Fails unless the document declares the path, the method and the status, with a schema that the body matches. */
  expectAnswer(method: string, path: string, status: number, body: unknown): void {
    const name = `${method} ${path}`;
    const operation = this.document.paths[path]?.[method.toLowerCase()];
    expect(operation, `${name} is not in the OpenAPI document`).toBeDefined();
    const declared = Object.keys(operation?.responses ?? {});
    expect(declared, `the OpenAPI document does not declare that ${name} answers with ${status}`).toContain(
      String(status),
    );
    const parts = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json'];
    this.#expectMatch([...parts, 'schema'], body, `the body of ${name}, ${status}`);
  }

  /** Fails unless a value matches one of the named schemas. */
  expectComponent(name: string, value: unknown): void {
    this.#expectMatch(['components', 'schemas', name], value, `a ${name}`);
  }

  #expectMatch(path: readonly string[], value: unknown, what: string): void {
    const validate = this.#validator(path);
    const isValid = validate(value);
    const problems = this.#ajv.errorsText(validate.errors, { dataVar: '', separator: '\n' });
    expect(isValid, `${what} does not match its schema: ${problems}\n${JSON.stringify(value)}`).toBe(true);
  }

  #validator(path: readonly string[]): ValidateFunction {
    const pointer = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.#ajv.getSchema(`${documentId}#/${pointer}`);
    if (validate === undefined) throw new Error(`the OpenAPI document has no schema at ${path.join(' → ')}`);
    return validate;
  }
}
