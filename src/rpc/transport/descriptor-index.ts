/** Descriptors by file, symbol and extension, as reflection asks for them. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

interface IndexedFile {
  readonly name: string;
  /** The serialized google.protobuf.FileDescriptorProto, with every option. */
  readonly bytes: Buffer;
  readonly imports: readonly string[];
}

export class DescriptorIndex {
  readonly #files = new Map<string, IndexedFile>();
  readonly #bySymbol = new Map<string, string>();
  /** The file that extends a message, by the message's name and the field's number. */
  readonly #extensions = new Map<string, Map<number, string>>();
  readonly #messages = new Set<string>();

  /** Takes a serialized google.protobuf.FileDescriptorSet with everything that its files import. */
  constructor(set: Uint8Array, { withoutPackage }: { readonly withoutPackage: string }) {
    for (const file of fromBinary(FileDescriptorSetSchema, set).file) {
      if (file.package !== withoutPackage) this.#add(file);
    }
  }

  /** The file, then what it imports, whatever the depth. Undefined where there is none of that name. */
  file(name: string): Buffer[] | undefined {
    if (!this.#files.has(name)) return undefined;
    const found = new Map<string, Buffer>();
    const waiting = [name];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const file = this.#files.get(next);
      if (file === undefined || found.has(next)) continue;
      found.set(next, file.bytes);
      waiting.push(...file.imports);
    }
    return [...found.values()];
  }

  /** The file that declares a symbol such as `tollgate.v1.KeyService.GetKey`. */
  fileOfSymbol(symbol: string): Buffer[] | undefined {
    const name = this.#bySymbol.get(symbol);
    return name === undefined ? undefined : this.file(name);
  }

  fileOfExtension(message: string, number: number): Buffer[] | undefined {
    const name = this.#extensions.get(message)?.get(number);
    return name === undefined ? undefined : this.file(name);
  }

  /** Undefined where there is no such message. */
  extensionNumbers(message: string): number[] | undefined {
    if (!this.#messages.has(message)) return undefined;
    return [...(this.#extensions.get(message)?.keys() ?? [])].sort((a, b) => a - b);
  }

  #add(file: FileDescriptorProto): void {
    const bytes = Buffer.from(toBinary(FileDescriptorProtoSchema, file));
    this.#files.set(file.name, { name: file.name, bytes, imports: file.dependency });
    const within = (name: string): string => (file.package === "" ? name : `${file.package}.${name}`);
    for (const message of file.messageType) this.#addMessage(file.name, within(message.name), message);
    for (const one of file.enumType) {
      this.#bySymbol.set(within(one.name), file.name);
      for (const value of one.value) this.#bySymbol.set(within(value.name), file.name);
    }
    for (const service of file.service) {
      this.#bySymbol.set(within(service.name), file.name);
      for (const method of service.method) this.#bySymbol.set(within(`${service.name}.${method.name}`), file.name);
    }
    this.#addExtensions(file.name, file.package, file.extension);
  }

  #addMessage(file: string, name: string, message: DescriptorProto): void {
    this.#bySymbol.set(name, file);
    this.#messages.add(name);
    for (const nested of message.nestedType) this.#addMessage(file, `${name}.${nested.name}`, nested);
    for (const one of message.enumType) {
      this.#bySymbol.set(`${name}.${one.name}`, file);
      for (const value of one.value) this.#bySymbol.set(`${name}.${value.name}`, file);
    }
    for (const field of message.field) this.#bySymbol.set(`${name}.${field.name}`, file);
    this.#addExtensions(file, name, message.extension);
  }

  #addExtensions(file: string, scope: string, extensions: readonly FieldDescriptorProto[]): void {
    for (const extension of extensions) {
      this.#bySymbol.set(scope === "" ? extension.name : `${scope}.${extension.name}`, file);
      const extendee = extension.extendee.replace(/^\./, "");
      const known = this.#extensions.get(extendee) ?? new Map<number, string>();
      known.set(extension.number, file);
      this.#extensions.set(extendee, known);
    }
  }
}
