//! Tools of documents, called by an executor at a server that shows what arrives.

mod addresses;
mod answers;
mod authorization;
mod documents;
mod injection;
mod inputs;
mod routes;
mod support;
