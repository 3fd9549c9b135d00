// The symbols of `using`, also where the engine has none yet: compilers of `using` fall back to the same ones.

/** @type {typeof Symbol.dispose} */
export const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** @type {typeof Symbol.asyncDispose} */
export const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
