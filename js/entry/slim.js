// No loader: init() or initSync() says where the wasm is.
export * from '../index.js';
