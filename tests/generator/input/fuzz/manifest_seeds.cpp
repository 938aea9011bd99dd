// SPDX-License-Identifier: Apache-2.0
//
//   manifest_seeds DIRECTORY
//
// Writes short manifests as inputs to begin with, which together say all that can be said: what is
// short is tried often. METERBANK_SEEDS_XML tells in which of the two languages.
#include <array>
#include <fstream>
#include <string>

namespace {

#ifdef METERBANK_SEEDS_XML

std::string document(const std::string& provider, const std::string& set,
                     const std::string& inner) {
  return R"(<a:instrumentationManifest xmlns:a="http://schemas.microsoft.com/win/2004/08/events"
 xmlns="http://schemas.microsoft.com/win/2005/12/counters"><a:instrumentation>
<counters schemaVersion="1.1"><provider providerName="p" symbol="P" applicationIdentity="p"
 providerGuid="{11111111-1111-1111-1111-111111111111}" )" +
         provider + R"(><counterSet name="s" symbol="S" uri="s" description="d"
 guid="{22222222-2222-2222-2222-222222222222}" )" +
         set + ">" + inner +
         "</counterSet></provider></counters></a:instrumentation></a:instrumentationManifest>";
}

std::string counter(const std::string& attributes, const std::string& inner = {}) {
  return "<counter detailLevel=\"standard\" " + attributes + ">" + inner + "</counter>";
}

const std::array kSeeds{
    document("", "", counter(R"(id="1" uri="a" name="n" type="perf_counter_bulk_count")")),
    document(
        "providerType='kernelMode' callback='custom' resourceBase='9'", "instances='multiple'",
        "<structs><struct name='W' type='T'/></structs>" +
            counter(
                R"(id="0x1" uri="a" name="n" type="perf_counter_rawcount" field="f" struct="W")")),
    document(
        "", "instances='globalAggregateHistory'",
        counter(R"(id="1" uri="a" name="n" type="perf_average_bulk" baseID="2" aggregate="avg")") +
            counter(R"(id="2" uri="b" type="perf_average_base")",
                    "<counterAttributes><counterAttribute name='noDisplay'/></counterAttributes>")),
    document("", "nameID='1' descriptionID='2'",
             counter(R"(id="1" uri="a" name="n" type="perf_counter_multi_timer" multiCounterID="2"
 symbol="N" description="d" defaultScale="-3" nameID="3" descriptionID="4")") +
                 counter(R"(id="2" uri="b" name="m" type="perf_counter_rawcount")")),
    document("", "", counter(R"(id="1" uri="a" name="n" type="perf_elapsed_time" perfTimeID="2"
 perfFreqID="3")")),
    std::string("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    std::string(
        "<?xml version='1.0' encoding='UTF-8'?><!-- a --><a b='&#65;&#x42;&lt;'><![CDATA[c]]></a>"),
    std::string("\xFF\xFE<\0a\0/\0>\0", 10),
};

#else

std::string document(const std::string& set, const std::string& counter) {
  return "[provider]\nname='p'\n[[counterset]]\nname='s'\n" + set +
         "[[counterset.counter]]\nid=1\nname='n'\n" + counter;
}

const std::array kSeeds{
    document("", ""),
    document(
        "symbol='S'\nguid='22222222-2222-2222-2222-222222222222'\nuri='s'\nhelp='h'\nlabel='l'\n"
        "instances='multiple_aggregate'\nname_id=1\ndescription_id=2\n",
        "symbol='N'\nuri='a'\nhelp='h'\nunit='s'\ntype='rawcount'\nscale=-3\ndetail='advanced'\n"
        "aggregate='sum'\nattributes=['reference', \"no_display\"]\nname_id=3\n"),
    document("consistency='block'\nmany=false\ncheckpoint=true\nstamped=true\ncuts=true\n",
             "type='large_rawcount'\nform='real'\ntimed=true\n"),
    document("consistency='independent'\nmany=true\n", "any_thread=true\n"),
    document("sharded=true\nshards=4\nby_processor=true\n",
             "type='average_bulk'\nbase=2\n"
             "[[counterset.counter]]\nid=0x2\ntype='average_base'\n"),
    document("", "type='histogram'\nbuckets={scale=2, least=1e-3, most=2}\n"),
    document("", "type='text'\ntext_bytes=8\n"),
    document("", "type='elapsed_time'\ntime=2\nfrequency=3\nmulti=4\n"),
    document("[[counterset.struct]]\nname='W'\ntype='T'\n", "struct='W'\nfield='f'\n"),
    std::string("[provider]\nname='p'\nsymbol='P'\nguid='{11111111-1111-1111-1111-111111111111}'\n"
                "application='p'\nmode='kernel'\ncallback='custom'\nresource_base=0x10\n"),
    std::string("a.b.\"c\".'d' = {e = [1, 2.5, true, 1979-05-27], f = 0x1F}\n"),
    std::string("a = \"\"\"\\\n b\\u00e4\"\"\" # c\nc = '''d'''\n"),
};

#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int number = 0;
  for (const std::string& seed : kSeeds) {
    std::ofstream(argv[1] + ("/seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
  return 0;
}
