#pragma once

#include "fake_hub.h"

#include "core/data/hub/hub_client.h"

#include <QByteArray>
#include <QtGlobal>

namespace furrow::test {

/// This process and the feeder ask the given hub while this lives.
class UseHub {
public:
    explicit UseHub(FakeHub& hub) { qputenv("HF_ENDPOINT", QByteArray::fromStdString(hub.endpoint())); }
    ~UseHub()
    {
        qunsetenv("HF_ENDPOINT");
        setSharedHubClient(nullptr);
    }
    UseHub(const UseHub&) = delete;
    UseHub& operator=(const UseHub&) = delete;
};

} // namespace furrow::test
