#pragma once

namespace furrow {

/// Puts a layer under SQLite that fails as sqliteFault() says, where a storm asked for it; else nothing is done. Before
/// the first connection.
void installFaultVfs();

} // namespace furrow
